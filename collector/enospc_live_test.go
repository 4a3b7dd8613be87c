package collector

import (
	"context"
	"errors"
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
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		testenv.Need(t, false, "the right to mount a tmpfs")
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	c := startChild(t, "yield")
	c.tell()
	path := filepath.Join(dir, "events.bin")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	sum, err := Run(ctx, Config{Pids: []int{c.pid}, Out: path, Ring: "none"})
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
