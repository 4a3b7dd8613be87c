package collector

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestFullDiskEndsTheRecordingAndKeepsTheFile(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		testenv.Need(t, false, "the right to mount a tmpfs")
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	c := startChild(t, "yield")
	c.tell()
	path := filepath.Join(dir, "events.bin")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	full := false
	var first uint64
	sum, err := Run(ctx, Config{Pids: []int{c.pid}, Out: path, Ring: "none", Progress: func(p Progress) {
		if p.Events == 0 || first == 0 {
			first = p.Bytes
		}
		if !full && p.Bytes > first { // events have reached the file
			full = true
			fill(t, filepath.Join(dir, "other"))
		}
	}})
	if !errors.Is(err, unix.ENOSPC) || strings.Count(err.Error(), path) != 1 {
		t.Fatalf("a full disk gives %v", err)
	}
	if sum == nil || sum.Reason != ReasonError {
		t.Errorf("summary %+v", sum)
	}
	rec, _ := readAll(t, path) // the block that did not fit is torn
	if len(rec.events) == 0 {
		t.Error("nothing of the recording is readable")
	}
}

// fill writes until the file system is full.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Error(err)
	}
}
