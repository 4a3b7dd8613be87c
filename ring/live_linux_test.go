package ring

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	liveThreads = 4
	liveCount   = 20000 // windows a thread
)

// A writer begins to write when it is told to, liveThreads*liveCount windows
// with ids from 0 on; finished is closed when it is done.
type writer func(t *testing.T, dir string, slots int) (path string, begin func(), finished chan error)

// TestEveryWindowIsReadOnceOrCountedLost follows a ring with several writers.
func TestEveryWindowIsReadOnceOrCountedLost(t *testing.T) {
	writers := map[string]writer{"go": goWriter}
	for _, python := range pythons(t) {
		writers[python] = program(python, "python/testdata/live.py")
	}
	c := compilers(t)[0]
	writers[c.name] = program(c.build(t, "c/testdata/live.c"))
	for name, w := range writers {
		t.Run(name+", with room", func(t *testing.T) { followLive(t, w, 1<<17, false) })
		t.Run(name+", overrun", func(t *testing.T) { followLive(t, w, 64, true) })
	}
}

func followLive(t *testing.T, w writer, slots int, mayLose bool) {
	path, begin, finished := w(t, shmDir(t), slots)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	begin()
	seen := make([]bool, liveThreads*liveCount)
	read := 0
	for done := false; !done || r.Behind() > 0; {
		select {
		case err := <-finished:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		read += readUnseen(t, r, seen)
	}
	read += readUnseen(t, r, seen)
	invalid, why := r.Invalid()
	// Writers a whole round apart can spoil one slot together.
	lost := int(r.Lost()+invalid) + r.Waiting()
	if r.Err() != nil || read+lost != len(seen) || read == 0 || (lost > 0 && !mayLose) {
		t.Errorf("%d windows: %d read, %d lost, %d of them invalid (%v), %v", len(seen), read, lost, invalid, why, r.Err())
	}
	t.Logf("%d read, %d lost", read, lost)
}

// readUnseen runs a pass and marks the ids that it gives as seen.
func readUnseen(t *testing.T, r *Reader, seen []bool) (n int) {
	t.Helper()
	var s Slot
	for ; r.Next(&s); n++ {
		id := binary.LittleEndian.Uint64(s.ID[:])
		if id >= uint64(len(seen)) || seen[id] || len(s.Points) != 3 || r.Name(s.Kind) != "/live" {
			t.Fatalf("window %+v, seen before: %v", s, id < uint64(len(seen)) && seen[id])
		}
		seen[id] = true
	}
	return n
}

func goWriter(t *testing.T, dir string, slots int) (string, func(), chan error) {
	p, err := Create(Options{Service: "live", Slots: slots, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	finished := make(chan error)
	begin := func() {
		var wg sync.WaitGroup
		for g := range uint64(liveThreads) {
			wg.Go(func() {
				for id := g * liveCount; id < (g+1)*liveCount; id++ {
					w := p.Begin(id, p.Name("/live"))
					w.Mark(p.Name("step"))
					w.Suspend(0)
					w.Resume(0)
					w.End()
				}
			})
		}
		go func() {
			wg.Wait()
			finished <- nil
		}()
	}
	return p.path, begin, finished
}

// program is a writer that is a program of its own.
func program(command ...string) writer {
	return func(t *testing.T, dir string, slots int) (string, func(), chan error) {
		args := append(command[1:len(command):len(command)], dir, strconv.Itoa(slots), strconv.Itoa(liveThreads), strconv.Itoa(liveCount))
		cmd := exec.Command(command[0], args...)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatalf("%v says %q: %v", cmd, line, err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "tailtrace-*.ring"))
		if err != nil || len(found) != 1 {
			t.Fatalf("rings %q, %v", found, err)
		}
		finished := make(chan error, 1)
		begin := func() {
			fmt.Fprintln(in)
			go func() { finished <- cmd.Wait() }()
		}
		return found[0], begin, finished
	}
}

// dyingDir, in the environment, makes the test binary a writer that is killed
// in the middle of a slot.
const dyingDir = "TAILTRACE_TEST_DYING_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dyingDir); dir != "" {
		die(dir)
	}
	os.Exit(m.Run())
}

func die(dir string) {
	p, err := Create(Options{Service: "dying", Slots: 64, Dir: dir})
	if err != nil {
		panic(err)
	}
	for id := range uint64(10) {
		p.Begin(id, 0).End()
		if id == 4 {
			index := p.head.Add(1) - 1
			(*atomic.Uint64)(unsafe.Pointer(&p.mem[slotOffset(index, p.mask)])).Store(2*index + 1)
		}
	}
	unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

func TestWriterKilledInMidSlotCostsOneWindow(t *testing.T) {
	dir := shmDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), dyingDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.String() != "signal: killed" {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, FileName(cmd.Process.Pid)))
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, b)
	for range 3 {
		var ids []uint64
		for _, s := range readAll(t, r) {
			ids = append(ids, binary.LittleEndian.Uint64(s.ID[:]))
		}
		if len(ids) == 10 || len(ids) == 0 {
			continue
		}
		t.Errorf("ids %d", ids)
	}
	if r.Waiting() != 1 || r.Lost() != 0 || r.Err() != nil {
		t.Errorf("waiting for %d, lost %d, %v; want to wait for 1", r.Waiting(), r.Lost(), r.Err())
	}
}

func TestFileTruncatedUnderTheReaderIsAnError(t *testing.T) {
	p := newPublisher(t, 64)
	r := openReader(t, p)
	p.Begin(1, 0).End()
	if got := readAll(t, r); len(got) != 1 {
		t.Fatalf("%d windows", len(got))
	}
	p.Begin(2, 0).End()
	if err := os.Truncate(p.path, HeaderSize); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, r); len(got) != 0 || r.Err() == nil {
		t.Errorf("%d windows, error %v", len(got), r.Err())
	}
	t.Log(r.Err())
}
