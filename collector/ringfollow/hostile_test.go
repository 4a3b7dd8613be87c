package ringfollow

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

// lie makes a file in shared memory that is mapped by this process under a
// ring's name. The test is its own hostile service.
func lie(t *testing.T, dir string, size int64, header func([]byte)) string {
	t.Helper()
	path := filepath.Join(dir, ring.FileName(os.Getpid()))
	b := make([]byte, ring.HeaderSize)
	copy(b, "TTRING\x00\x01")
	for i, v := range []uint32{1, ring.HeaderSize, ring.SlotSize, 64, uint32(os.Getpid()), ring.ClockMonotonic} {
		binary.LittleEndian.PutUint32(b[8+4*i:], v)
	}
	if header != nil {
		header(b)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	mapFile(t, path)
	return path
}

func mapFile(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mem, err := unix.Mmap(int(f.Fd()), 0, ring.HeaderSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
}

func shmDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(ring.DefaultDir, "tailtrace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

const goodSize = ring.HeaderSize + 64*ring.SlotSize

func TestRingThatLiesIsNotedOnceAndLeftAlone(t *testing.T) {
	put32 := func(off int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[off:], v) }
	}
	for _, test := range []struct {
		name   string
		size   int64
		header func([]byte)
		note   string
	}{
		{"magic", goodSize, func(b []byte) { b[0] = 0 }, "bad magic"},
		{"version", goodSize, put32(8, 2), "unknown ABI version: 2"},
		{"header size", goodSize, put32(12, 64), "bad header size: 64"},
		{"slot size", goodSize, put32(16, 512), "bad slot size: 512"},
		{"slot count", goodSize, put32(20, 65), "bad slot count: 65"},
		{"more slots than bytes", goodSize, put32(20, 128), "file is too short"},
		{"other pid", goodSize, put32(24, 1), "it says it belongs to another process: 1, not"},
		{"clock", goodSize, put32(28, 2), "unknown clock: 2"},
		{"name count", goodSize, put32(40, 61), "61 names in use"},
		{"head", goodSize, put32(64, 1<<30), "bad head"},
		{"service name", goodSize, func(b []byte) { b[128] = 0xff }, "not UTF-8"},
		{"header only", 100, nil, "file is too short"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lie(t, shmDir(t), test.size, test.header)
			w := newWatch(t, Options{}, os.Getpid())
			for range 4 {
				w.f.scanned, w.f.procs = w.f.scanned.Add(-scanEvery), map[int]process{}
				w.poll()
			}
			if len(w.notes) != 1 || !strings.Contains(w.notes[0], test.note) {
				t.Errorf("notes %q, want one with %q", w.notes, test.note)
			}
			if len(w.f.rings) > 0 {
				t.Error("it is followed")
			}
		})
	}
}

func TestRingInheritedFromAnotherProcessIsPassedOver(t *testing.T) {
	path := lie(t, shmDir(t), goodSize, nil)
	inherited := filepath.Join(filepath.Dir(path), ring.FileName(os.Getppid()))
	if err := os.Rename(path, inherited); err != nil {
		t.Fatal(err)
	}
	w := newWatch(t, Options{}, os.Getpid())
	w.poll()
	if len(w.f.rings) > 0 || len(w.notes) > 0 {
		t.Errorf("%d rings followed, notes %q", len(w.f.rings), w.notes)
	}
}

func TestRingInAHugeSparseFileIsFollowed(t *testing.T) {
	lie(t, shmDir(t), 1<<40, nil)
	w := newWatch(t, Options{}, os.Getpid())
	w.untilNote("64 slots, attached")
}

func TestRingOfAMillionEmptySlotsTakesBoundedWork(t *testing.T) {
	lie(t, shmDir(t), ring.HeaderSize+ring.MaxSlots*ring.SlotSize, func(b []byte) {
		binary.LittleEndian.PutUint32(b[20:], ring.MaxSlots)
		binary.LittleEndian.PutUint64(b[64:], ring.MaxSlots)
	})
	w := newWatch(t, Options{}, os.Getpid())
	w.poll()
	if len(w.f.rings) != 1 {
		t.Fatalf("not followed: %q", w.notes)
	}
	r := w.f.rings[0].reader
	if behind := r.Behind(); behind == 0 || behind == ring.MaxSlots {
		t.Errorf("%d slots are left after a poll, want some", behind)
	}
	w.close()
	if len(w.windows) > 0 || r.Behind() != 0 {
		t.Errorf("%d windows, %d slots left after the end", len(w.windows), r.Behind())
	}
}

// A file can be given another one's place between the mapping and the look.
func TestFileInPlaceOfTheRingIsRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(path string) error
		want string
	}{
		{"fifo", func(p string) error { return unix.Mkfifo(p, 0o600) }, errNotRegular.Error()},
		{"device", func(p string) error { return unix.Mknod(p, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 5))) }, errNotRegular.Error()},
		{"symlink", func(p string) error { return os.Symlink("/etc/passwd", p) }, errNotRegular.Error()},
		{"other file", func(p string) error { return os.WriteFile(p, make([]byte, goodSize), 0o600) }, errOther.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "device" {
				testenv.Root(t)
			}
			path := lie(t, shmDir(t), goodSize, nil)
			ms, err := candidates(os.Getpid())
			if err != nil || len(ms) != 1 {
				t.Fatalf("candidates: %+v, %v", ms, err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := test.make(path); err != nil {
				t.Fatal(err)
			}
			m := ms[0]
			m.start, m.end = 1, 2 // no such range: only the path is left
			f, err := openMapped(os.Getpid(), m)
			if err == nil {
				f.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("open: %v, want %q", err, test.want)
			}
		})
	}
}

func TestRingOnAnotherFileSystemIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	testenv.Need(t, fs.Type != unix.TMPFS_MAGIC, "a temporary directory that is not on a tmpfs")
	lie(t, dir, goodSize, nil)
	w := newWatch(t, Options{}, os.Getpid())
	w.untilNote(errNotTmpfs.Error())
}

func TestManyMappingsOfRingsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "7f0000000000-7f0000001000 rw-s 00000000 00:1a %d /dev/shm/tailtrace-7.ring\n", i/2)
	}
	ms, err := readMaps(strings.NewReader(b.String()))
	if err != nil || len(ms) != maxCandidates {
		t.Errorf("%d mappings, %v; want %d", len(ms), err, maxCandidates)
	}
}
