package ring

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runProcess runs c/testdata/process.c and returns what it said.
func runProcess(t *testing.T, program, mode, dir string) (stdout, stderr string, pid int) {
	t.Helper()
	cmd := exec.Command(program, mode, dir)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, errs.String())
	}
	return out.String(), errs.String(), cmd.Process.Pid
}

// kindsIn returns "kind id" for each window in the ring of a process.
func kindsIn(t *testing.T, dir string, pid int) (kinds []string, slots []Slot) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, FileName(pid)))
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, b)
	slots = readAll(t, r)
	wantCounts(t, r, 0, 0)
	for _, s := range slots {
		kinds = append(kinds, fmt.Sprintf("%s %d", r.Name(s.Kind), binary.LittleEndian.Uint64(s.ID[:])))
	}
	return kinds, slots
}

func TestPublisherInC(t *testing.T) {
	for _, c := range compilers(t) {
		program := c.build(t, "c/testdata/process.c")
		t.Run(c.name+", fork", func(t *testing.T) {
			dir := shmDir(t)
			out, _, parent := runProcess(t, program, "fork", dir)
			var child int
			fmt.Sscan(out, &child)
			kinds, slots := kindsIn(t, dir, parent)
			if want := []string{"/parent 1", "/open 2"}; !slices.Equal(kinds, want) || slots[0].Tid != uint32(parent) {
				t.Errorf("parent %d: %q, %+v; want %q", parent, kinds, slots, want)
			}
			kinds, slots = kindsIn(t, dir, child)
			if want := []string{"/parent 3", "/child 4"}; !slices.Equal(kinds, want) || slots[0].Tid != uint32(child) || slots[0].Points[1].Tid != uint32(child) {
				t.Errorf("child %d: %q, %+v; want %q", child, kinds, slots, want)
			}
		})
		t.Run(c.name+", close", func(t *testing.T) {
			dir := shmDir(t)
			runProcess(t, program, "close", dir)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
		t.Run(c.name+", names", func(t *testing.T) {
			dir := shmDir(t)
			_, _, pid := runProcess(t, program, "names", dir)
			kinds, _ := kindsIn(t, dir, pid)
			for i, kind := range kinds {
				want := fmt.Sprintf("n%d %d", i+6, i+6)
				if i+6 >= MaxNames-1 { // one is the step's
					want = fmt.Sprintf(" %d", i+6)
				}
				if kind != want {
					t.Errorf("window %d: %q, want %q", i, kind, want)
				}
			}
		})
		t.Run(c.name+", no directory", func(t *testing.T) {
			_, said, _ := runProcess(t, program, "fork", filepath.Join(t.TempDir(), "none"))
			if strings.Count(said, "\n") != 1 || !strings.Contains(said, "requests are not published") || !strings.Contains(said, "No such file") {
				t.Errorf("said %q", said)
			}
		})
	}
}

func TestPublisherInCRefusesSymlinks(t *testing.T) {
	dir := shmDir(t)
	program := compilers(t)[0].build(t, "c/testdata/process.c")
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The shell's pid becomes the program's, and so is known to the link.
	cmd := exec.Command("sh", "-c", `ln -s "$1" "$2/tailtrace-$$.ring" && exec "$3" fork "$2"`, "sh", victim, dir, program)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "File exists") {
		t.Errorf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(victim); string(b) != "precious" {
		t.Errorf("the file that the link points to: %q, %v", b, err)
	}
}
