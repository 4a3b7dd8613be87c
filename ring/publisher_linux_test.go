package ring

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestWindowIsPublishedWithItsPointsAndThread(t *testing.T) {
	p := newPublisher(t, 64)
	r := openReader(t, p)
	kind, read, wait := p.Name("/score"), p.Name("read"), p.Name("wait")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	before := Now()
	w := p.Begin(7, kind)
	w.Mark(read)
	w.Suspend(wait)
	w.Resume(wait)
	w.Thread(99)
	w.SetFlags(FlagError | FlagRawID)
	w.SetCPU(5)
	w.End()
	p.BeginRaw([16]byte{15: 1}, kind).End()
	p.BeginOn(42, 8, kind).End()
	p.Span(wait, 10, 20)

	got := readAll(t, r)
	if len(got) != 4 {
		t.Fatalf("%d windows, want 4", len(got))
	}
	s, tid := got[0], uint32(unix.Gettid())
	if s.Begin < before || s.End < s.Begin || s.End > Now() {
		t.Errorf("from %d to %d, after %d", s.Begin, s.End, before)
	}
	if s.ID != NumberID(7) || s.Flags != FlagError || s.CPU != 5 || s.Tid != tid || s.EndTid != tid || r.Name(s.Kind) != "/score" {
		t.Errorf("%+v on thread %d", s, tid)
	}
	var types []PointType
	for _, pt := range s.Points {
		types = append(types, pt.Type)
	}
	if fmt.Sprint(types) != fmt.Sprint([]PointType{Mark, Suspend, Resume, Thread}) || s.Points[3].Tid != 99 {
		t.Errorf("points %+v", s.Points)
	}
	if s := got[1]; s.Flags != FlagRawID || s.ID != [16]byte{15: 1} {
		t.Errorf("raw id: %+v", s)
	}
	if s := got[2]; s.Tid != 42 || s.EndTid != 42 {
		t.Errorf("known thread: %+v", s)
	}
	if s := got[3]; s.Type != Span || s.Tid != 0 || s.Begin != 10 || s.End != 20 || r.Name(s.Kind) != "wait" {
		t.Errorf("span: %+v", s)
	}
}

func TestNowIsTheMonotonicClock(t *testing.T) {
	clock := func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return ts.Nano()
	}
	if a, b, c := clock(), Now(), clock(); a > b || b > c {
		t.Errorf("%d is not between %d and %d", b, a, c)
	}
}

func TestWindowAfterEndOfNobodyDoesNothing(t *testing.T) {
	var p *Publisher
	for _, p := range []*Publisher{p, {}} {
		w := p.Begin(1, 1)
		w.Mark(1)
		w.Suspend(1)
		w.Resume(1)
		w.Thread(1)
		w.SetFlags(1)
		w.SetCPU(1)
		w.End()
		p.Publish(&Slot{})
		p.Span(1, 1, 2)
		if id := p.Name("x"); id != 0 {
			t.Errorf("name id %d without a ring", id)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNamesHaveOneIdEachAsLongAsThereIsRoom(t *testing.T) {
	p := newPublisher(t, 64)
	r := openReader(t, p)
	var ids [4][70]uint8
	var wg sync.WaitGroup
	for g := range ids {
		wg.Go(func() {
			for i := range ids[g] {
				ids[g][i] = p.Name(fmt.Sprintf("name %d", i))
			}
		})
	}
	wg.Wait()
	if ids[0] != ids[1] || ids[1] != ids[2] || ids[2] != ids[3] {
		t.Errorf("ids differ between goroutines: %v", ids)
	}
	given := 0
	for i, id := range ids[0] {
		if id == 0 {
			continue
		}
		given++
		p.Span(id, 1, 2)
		if s := readAll(t, r); len(s) != 1 || r.Name(s[0].Kind) != fmt.Sprintf("name %d", i) {
			t.Errorf("name %d is %+v", i, s)
		}
	}
	if given != MaxNames {
		t.Errorf("%d names have an id, want %d", given, MaxNames)
	}
	if p.Name("") != 0 {
		t.Error("the empty name has an id")
	}
}

func TestRingIsPrivateAndNamedByPid(t *testing.T) {
	p := newPublisher(t, 64)
	info, err := os.Stat(p.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || info.Size() != HeaderSize+64*SlotSize {
		t.Errorf("%v, %d bytes", info.Mode(), info.Size())
	}
	if want := fmt.Sprintf("tailtrace-%d.ring", os.Getpid()); filepath.Base(p.path) != want {
		t.Errorf("%s, want %s", p.path, want)
	}
}

func TestRingsOfDeadProcessesAreReplacedAndSwept(t *testing.T) {
	dir := shmDir(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	own := ringPath(dir)
	others := map[string]bool{ // and whether it stays
		FileName(dead.Process.Pid):                      false,
		FileName(1):                                     true,
		FileName(dead.Process.Pid) + ".bak":             true,
		"tailtrace-0" + FileName(dead.Process.Pid)[10:]: true,
	}
	for name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(own, []byte("left by a process with the same pid"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Create(Options{Slots: 64, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	openReader(t, p)
	for name, stays := range others {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseLeavesTheRingThatTookItsPlace(t *testing.T) {
	dir := shmDir(t)
	first, err := Create(Options{Slots: 64, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Create(Options{Slots: 64, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	openReader(t, second)
}

func TestWhatIsInTheWayOfTheRingIsRefused(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		root bool
		make func(path string) error
		want string
	}{
		{"symlink", false, func(p string) error { return os.Symlink(victim, p) }, "not a regular file"},
		{"dangling symlink", false, func(p string) error { return os.Symlink(victim+"2", p) }, "not a regular file"},
		{"directory", false, func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		{"fifo", false, func(p string) error { return unix.Mkfifo(p, 0o600) }, "not a regular file"},
		{"file of another user", true, func(p string) error {
			return errors.Join(os.WriteFile(p, nil, 0o600), os.Chown(p, 12345, 12345))
		}, "belongs to user 12345"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.root {
				testenv.Root(t)
			}
			dir := shmDir(t)
			if err := test.make(ringPath(dir)); err != nil {
				t.Fatal(err)
			}
			p, err := Create(Options{Slots: 64, Dir: dir})
			if err == nil {
				p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if b, err := os.ReadFile(victim); string(b) != "precious" {
				t.Errorf("the file that the link points to: %q, %v", b, err)
			}
			if _, err := os.Stat(victim + "2"); err == nil {
				t.Error("the file that the link points to was made")
			}
		})
	}
}

func TestCreateSaysWhatIsWrong(t *testing.T) {
	for _, slots := range []int{1, 32, 100, 1 << 21, -64} {
		if _, err := Create(Options{Slots: slots, Dir: t.TempDir()}); !errors.Is(err, ErrSlotCount) {
			t.Errorf("%d slots: %v", slots, err)
		}
	}
	if _, err := Create(Options{Dir: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

func TestOpenWithoutARingSaysSoOnceAndGoesOn(t *testing.T) {
	said := captureStderr(t, func() {
		p := Open(Options{Service: "x", Dir: filepath.Join(t.TempDir(), "none")})
		for range 3 {
			p.Begin(1, p.Name("k")).End()
		}
		p.Close()
	})
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, "requests are not published") || !strings.Contains(said, "no such file") {
		t.Errorf("said %q", said)
	}
}

func captureStderr(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	f()
	os.Stderr = old
	w.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPublishingDuringAndAfterCloseIsHarmless(t *testing.T) {
	p, err := Create(Options{Slots: 64, Dir: shmDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	started := make(chan bool, 2)
	stop := make(chan bool)
	for range 2 {
		wg.Go(func() {
			for n := 0; ; n++ {
				if n == 100 {
					started <- true
				}
				select {
				case <-stop:
					return
				default:
					p.Begin(1, p.Name("k")).End()
				}
			}
		})
	}
	<-started
	<-started
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
	p.Begin(1, 1).End()
	if err := p.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestPublishingDoesNotAllocate(t *testing.T) {
	p := newPublisher(t, 64)
	kind := p.Name("k")
	s := Slot{Type: Request, Kind: kind, Points: []Point{{Type: Mark}}}
	if n := testing.AllocsPerRun(1000, func() {
		w := p.Begin(1, kind)
		w.Mark(kind)
		w.End()
		p.Publish(&s)
	}); n >= 1 { // a collection may empty the pool
		t.Errorf("%v allocations for a window", n)
	}
}
