package ring

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// tinyDisk mounts a tmpfs that is smaller than a ring.
func tinyDisk(t *testing.T) string {
	t.Helper()
	testenv.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tailtrace-test", dir, "tmpfs", 0, "size=32k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDiskTurnsThePublisherOff(t *testing.T) {
	check := func(t *testing.T, dir, said string) {
		t.Helper()
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, "requests are not published") ||
			!strings.Contains(strings.ToLower(said), "no space left on device") {
			t.Errorf("said %q", said)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("left %v, %v", entries, err)
		}
	}
	t.Run("go", func(t *testing.T) {
		dir := tinyDisk(t)
		check(t, dir, captureStderr(t, func() {
			p := Open(Options{Service: "full", Dir: dir})
			p.Begin(1, p.Name("k")).End()
		}))
	})
	programs := map[string][]string{"c": {compilers(t)[0].build(t, "c/testdata/live.c")}}
	for _, python := range pythons(t) {
		programs[python] = []string{python, "python/testdata/live.py"}
	}
	for name, args := range programs {
		t.Run(name, func(t *testing.T) {
			dir := tinyDisk(t)
			cmd := exec.Command(args[0], append(args[1:], dir, "8192", "2", "100")...)
			cmd.Stdin = strings.NewReader("\n")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %v", cmd, err)
			}
			check(t, dir, stderr.String())
		})
	}
	t.Run("error", func(t *testing.T) {
		_, err := Create(Options{Dir: tinyDisk(t)})
		if want := fmt.Sprintf("reserve %d bytes", HeaderSize+DefaultSlots*SlotSize); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	})
}
