package ringfollow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/ring"
)

func TestNamedRingIsFollowedAlsoWhenItComesLateOrIsReplaced(t *testing.T) {
	s := startService(t)
	path := fmt.Sprintf("/dev/shm/tailtrace-%d.ring", s.pid)
	w := newWatch(t, Options{Path: path}, s.pid)
	w.untilNote("waiting for it")
	s.do("open first 64")
	w.untilNote("ring of first, pid")
	s.do("publish 1 2 k")
	s.do("close")
	s.do("open second 64")
	s.do("publish 3 2 k")
	w.untilWindows(4)
	w.wantIDs(ints(1, 4))
	if n := len(w.f.rings); n != 1 {
		t.Errorf("%d rings are followed, want 1", n)
	}
}

func TestCheckSaysWhatIsWrongWithANamedRing(t *testing.T) {
	dir := t.TempDir()
	good := lie(t, dir, goodSize, nil)
	text, fifo := filepath.Join(dir, "text"), filepath.Join(dir, "fifo")
	if err := os.WriteFile(text, make([]byte, goodSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		good:                       nil,
		text:                       ring.ErrMagic,
		fifo:                       errNotRegular,
		dir:                        errNotRegular,
		filepath.Join(dir, "none"): os.ErrNotExist,
	} {
		if err := Check(path); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("Check(%s): %v, want %v", filepath.Base(path), err, want)
		}
	}
}
