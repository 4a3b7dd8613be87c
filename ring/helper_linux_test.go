package ring

import (
	"os"
	"path/filepath"
	"testing"
)

// shmDir is a directory of the test's own in /dev/shm.
func shmDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(DefaultDir, "tailtrace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newPublisher(t testing.TB, slots int) *Publisher {
	t.Helper()
	p, err := Create(Options{Service: "test", Slots: slots, Dir: shmDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func openReader(t testing.TB, p *Publisher) *Reader {
	t.Helper()
	f, err := os.Open(p.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r, err := NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func ringPath(dir string) string { return filepath.Join(dir, FileName(os.Getpid())) }
