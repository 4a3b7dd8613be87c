package ringfollow

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

// ints returns from, from+1, ... n numbers.
func ints(from, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = from + i
	}
	return s
}

func (w *watch) wantIDs(want []int) {
	w.t.Helper()
	if d := cmp.Diff(want, w.ids()); d != "" {
		w.t.Errorf("window ids (-want +got):\n%s", d)
	}
}

func (w *watch) wantNoLoss() {
	w.t.Helper()
	if len(w.losses) > 0 {
		w.t.Errorf("losses: %+v", w.losses)
	}
}

func TestWindowsArriveWithNamesAndThreads(t *testing.T) {
	s := startService(t)
	s.do("open scorer 64")
	before := eventfile.Time(ring.Now())
	w := newWatch(t, Options{Since: before}, s.pid)
	s.do("publish 1 1 /score")
	w.untilWindows(1)

	got := w.windows[0]
	tid := int32(s.pid)
	if got.Begin < before || got.End < got.Begin || got.End > eventfile.Time(ring.Now()) {
		t.Errorf("window from %d to %d, recorded from %d", got.Begin, got.End, before)
	}
	got.Begin, got.End = 0, 0
	for i := range got.Points {
		got.Points[i].Offset = 0
	}
	want := eventfile.Window{
		Kind: "/score", Pid: tid, ID: eventfile.ID{Bytes: ring.NumberID(1)}, Tid: tid, EndTid: tid,
		Points: []eventfile.Point{{Type: eventfile.PointMark, Name: "step"}, {Type: eventfile.PointThread, Tid: tid}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("window (-want +got):\n%s", d)
	}
	if note := fmt.Sprintf("ring of scorer, pid %d, 64 slots, attached", s.pid); !slices.Contains(w.notes, note) {
		t.Errorf("notes %q, want %q", w.notes, note)
	}
}

func TestWindowsFromBeforeTheRecordingAreLeftOut(t *testing.T) {
	s := startService(t)
	s.do("open scorer 64")
	s.do("publish 1 100 old") // more than the ring holds
	w := newWatch(t, Options{}, s.pid)
	s.do("publish 200 5 new") // complete before the ring is found
	w.untilWindows(5)
	s.do("publish 205 5 new")
	w.untilWindows(10)
	w.wantIDs(ints(200, 10))
	w.wantNoLoss()
}

func TestRingThatAppearsLateIsFound(t *testing.T) {
	s := startService(t)
	w := newWatch(t, Options{}, s.pid)
	w.poll()
	w.poll()
	s.do("open late 64")
	s.do("publish 1 3 k")
	w.untilWindows(3)
	w.wantIDs(ints(1, 3))
	w.wantNoLoss()
}

func TestWhatALateRingOverwroteIsLost(t *testing.T) {
	s := startService(t)
	w := newWatch(t, Options{}, s.pid)
	w.poll()
	s.do("open late 64")
	s.do("publish 1 100 k")
	w.untilWindows(64)
	w.wantIDs(ints(37, 64))
	if len(w.losses) != 1 || w.losses[0].Count != 36 || w.losses[0].Source != eventfile.LossWindow {
		t.Errorf("losses %+v, want 36 windows", w.losses)
	}
}

func TestReplacedRingIsFollowedAndTheOldOneReadToItsEnd(t *testing.T) {
	s := startService(t)
	s.do("open first 64")
	w := newWatch(t, Options{}, s.pid)
	s.do("publish 1 1 k")
	w.untilWindows(1)
	s.do("publish 2 2 k")
	s.do("close")
	s.do("open second 64")
	s.do("publish 4 2 k")
	w.untilNote("ring of second")
	w.untilWindows(5)
	w.wantIDs(ints(1, 5))
	w.wantNoLoss()
	if n := len(w.f.rings); n != 1 {
		t.Errorf("%d rings are followed, want 1", n)
	}
}

func TestRingInAMemfdIsFound(t *testing.T) {
	testenv.Root(t) // map_files
	s := startService(t)
	s.do("memfd 64")
	w := newWatch(t, Options{}, s.pid)
	s.do("publish 1 3 k")
	w.untilWindows(3)
	s.do("memfd 64") // the same size: only the list of mappings tells
	s.do("publish 4 3 k")
	w.untilWindows(6)
	w.wantIDs(ints(1, 6))
}

func TestUnlinkedRingIsFound(t *testing.T) {
	testenv.Root(t) // map_files
	s := startService(t)
	s.do("open scorer 64")
	if err := os.Remove(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", s.pid)); err != nil {
		t.Fatal(err)
	}
	w := newWatch(t, Options{}, s.pid)
	s.do("publish 1 3 k")
	w.untilWindows(3)
	w.wantIDs(ints(1, 3))
}

func TestLastWindowsOfAKilledProcessAreRead(t *testing.T) {
	for _, how := range []string{"poll", "close"} {
		t.Run(how, func(t *testing.T) {
			s := startService(t)
			s.do("open scorer 64")
			w := newWatch(t, Options{}, s.pid)
			w.untilNote("attached")
			s.do("publish 1 5 k")
			s.kill()
			if how == "close" {
				w.close()
			} else {
				w.until("ring closed", func() bool { return len(w.f.rings) == 0 })
			}
			w.wantIDs(ints(1, 5))
			w.wantNoLoss()
		})
	}
}

func TestForkedChildHasARingOfItsOwn(t *testing.T) {
	s := startService(t)
	s.do("open scorer 64")
	var pids []int
	w := &watch{t: t}
	w.f = New(func() []int { return pids }, Options{Info: w.note})
	pids = append(pids, s.pid)
	s.do("publish 1 1 parent")
	s.send("fork 2")
	var child int
	fmt.Sscan(s.answer(), &child)
	pids = append(pids, child)
	w.untilWindows(2)
	slices.SortFunc(w.windows, func(a, b eventfile.Window) int { return int(a.Begin - b.Begin) })
	w.wantIDs(ints(1, 2))
	if got := w.windows[1]; got.Pid != int32(child) || got.Tid != int32(child) || got.Kind != "child" {
		t.Errorf("the child's window: %+v, want pid and tid %d", got, child)
	}
	if n := w.noted("not followed"); n > 0 {
		t.Errorf("notes: %q", w.notes)
	}
	s.stop()
	os.Remove(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", child))
	w.close()
}

func TestTruncatedRingIsAnErrorAndTheRestGoesOn(t *testing.T) {
	s, other := startService(t), startService(t)
	s.do("open short 64")
	other.do("open other 64")
	w := newWatch(t, Options{}, s.pid, other.pid)
	s.do("publish 1 1 k")
	w.untilWindows(1)
	s.do("truncate 0")
	w.untilNote("no longer followed: read ring head: file is too short")
	other.do("publish 2 1 k")
	w.untilWindows(2)
	w.wantIDs(ints(1, 2))
	for range 12 { // over a second scan
		w.poll()
	}
	if n := w.noted("short"); n != 2 { // attached, no longer followed
		t.Errorf("%d notes on it: %q", n, w.notes)
	}
}

func TestNamesThatATerminalWouldObeyAreMadeHarmless(t *testing.T) {
	if got := printable("a\x1b[31mb\nc\u202ed é"); strings.ContainsAny(got, "\x1b\n\u202e") || !strings.Contains(got, "é") {
		t.Errorf("printable: %q", got)
	}
}
