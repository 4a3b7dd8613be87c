package timeline

import (
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// What tracers are known to get wrong about time, tasks and CPUs. The cases of
// TestSegments are the ordinary course of events.
func TestHazards(t *testing.T) {
	us := func(n int) Time { return Time(n * 1000) }
	tests := map[string]struct {
		events []eventfile.Event
		end    Time
		want   []piece
	}{
		"the idle task of CPU 1 is not the task with pid 1": {
			events: []eventfile.Event{
				target(1, "init"), sw(us(1), 0, 0, 1, 0), blockIn(us(2), 0, 1, 0, 35),
				sw(us(3), 1, hog, 0, 1), sw(us(9), 1, 0, hog, 0), // CPU 1 goes idle and leaves it
				waking(us(20), 0, 1, 0, 0), sw(us(21), 0, 0, 1, 0),
			},
			end: us(22),
			want: []piece{
				{1, us(1), us(2), "running", ""}, {1, us(2), us(20), "sleep", ""}, {1, us(20), us(21), "waking", "idle"}, {1, us(21), us(22), "running", ""},
			},
		},
		"one CPU that leaves idle is not the other's business": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), sw(us(2), 0, svc, hog, 0), sw(us(3), 1, other, 0, 1), sw(us(4), 1, 0, other, 0), sw(us(10), 0, hog, svc, 0),
			},
			end: us(10),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "preempted", "hog"},
			},
		},
		"a thread that moves while it sleeps has one wait, from where it slept to where it woke": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, 0, 35),
				sw(us(5), 0, 0, other, 0), blockIn(us(8), 0, other, 0, 35), // another one comes and goes on its old CPU
				waking(us(10), 1, svc, hog, 1), sw(us(12), 1, hog, svc, 0), blockIn(us(13), 1, svc, 0, 35),
			},
			end: us(14),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "sleep", ""}, {svc, us(10), us(12), "waking", "hog"},
				{svc, us(12), us(13), "running", ""}, {svc, us(13), us(14), "sleep", ""},
			},
		},
		"a switch-in that is said twice begins one stay": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, 0, 35), waking(us(4), 0, svc, 0, 0), sw(us(5), 0, 0, svc, 0), sw(us(5), 0, 0, svc, 0), sw(us(9), 0, svc, 0, 1),
			},
			end: us(9),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(4), "sleep", ""}, {svc, us(4), us(5), "waking", "idle"}, {svc, us(5), us(9), "running", ""},
			},
		},
		"a wakeup of a thread that never left its CPU is no wait": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), onRq(waking(us(5), 1, svc, other, 0)), blockIn(us(8), 0, svc, 0, 202), waking(us(20), 1, svc, other, 0), sw(us(20), 0, 0, svc, 0),
			},
			end: us(21),
			want: []piece{
				{svc, us(1), us(8), "running", ""}, {svc, us(8), us(20), "lock", ""}, {svc, us(20), us(21), "running", ""},
			},
		},
		"the IPI inside an arm64 interrupt is taken out of it": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), span(eventfile.KindVector, 0, svc, us(12), us(18)), span(eventfile.KindIRQ, 0, svc, us(10), us(20)), sw(us(30), 0, svc, 0, 1),
			},
			end: us(30),
			want: []piece{
				{svc, us(0), us(10), "running", ""}, {svc, us(10), us(12), "irq", ""}, {svc, us(12), us(18), "irq", ""}, {svc, us(18), us(20), "irq", ""},
				{svc, us(20), us(30), "running", ""},
			},
		},
		"an NMI inside a softirq inside a fault counts once": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), span(eventfile.KindNMI, 0, svc, us(14), us(15)), span(eventfile.KindSoftirq, 0, svc, us(12), us(18)),
				span(eventfile.KindFault, 0, svc, us(10), us(20)), sw(us(21), 0, svc, 0, 1),
			},
			end: us(21),
			want: []piece{
				{svc, us(0), us(10), "running", ""}, {svc, us(10), us(12), "fault", ""}, {svc, us(12), us(14), "softirq", ""}, {svc, us(14), us(15), "nmi", ""},
				{svc, us(15), us(18), "softirq", ""}, {svc, us(18), us(20), "fault", ""}, {svc, us(20), us(21), "running", ""},
			},
		},
		"softirqs in ksoftirqd are that task's": {
			events: []eventfile.Event{
				task(16, "ksoftirqd/0"), sw(us(0), 0, 0, svc, 0), sw(us(10), 0, svc, 16, 0), span(eventfile.KindSoftirq, 0, 16, us(11), us(19)), sw(us(20), 0, 16, svc, 0),
			},
			end: us(20),
			want: []piece{
				{svc, us(0), us(10), "running", ""}, {svc, us(10), us(20), "preempted", "ksoftirqd/0"},
			},
		},
		"softirqs of an idle CPU are nobody's": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), blockIn(us(5), 0, svc, 0, 45), span(eventfile.KindSoftirq, 0, 0, us(11), us(19)),
				waking(us(18), 0, svc, 0, 0), sw(us(20), 0, 0, svc, 0),
			},
			end: us(20),
			want: []piece{
				{svc, us(0), us(5), "running", ""}, {svc, us(5), us(18), "net", ""}, {svc, us(18), us(20), "waking", "idle"},
			},
		},
		"what carries tid -1 at its end is nobody": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), sw(us(5), 0, svc, hog, eventfile.StateDead), sw(us(7), 0, -1, 0, eventfile.StateDead), sw(us(9), 0, 0, -1, 0),
			},
			end:  us(20),
			want: []piece{{svc, us(0), us(5), "running", ""}},
		},
		"CPUs with large and missing numbers": {
			events: []eventfile.Event{
				sw(us(0), 255, 0, svc, 0), sw(us(5), 255, svc, hog, 0), migrate(us(6), svc, 4095), sw(us(9), 4095, other, svc, 0),
			},
			end: us(9),
			want: []piece{
				{svc, us(0), us(5), "running", ""}, {svc, us(5), us(6), "preempted", "hog"}, {svc, us(6), us(9), "preempted", "other"},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := build(t, nil, tt.end, append(names(), tt.events...)...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

func onRq(e eventfile.Event) eventfile.Event {
	e.Flags |= eventfile.FlagOnRq
	return e
}

func TestStepsBackAreCountedWithTheLargest(t *testing.T) {
	_, b := build(t, nil, 9000, append(names(),
		sw(1000, 0, 0, svc, 0), blockIn(2000, 0, svc, 0, 7), waking(1990, 1, svc, 0, 0), sw(1500, 0, 0, svc, 0),
		eventfile.Event{Kind: eventfile.KindSoftirq, Tid: svc, Time: 3000, Dur: -700})...)
	if b.Counts.Backwards != 3 || b.Counts.WorstBack != 700 {
		t.Errorf("%d steps back, the largest %d ns", b.Counts.Backwards, b.Counts.WorstBack)
	}
}

func TestWaitFromBeforeTheRecordingIsMarkedAsCut(t *testing.T) {
	var cut []bool
	b := New(func(s *Segment) { cut = append(cut, s.Block != nil && s.Block.Cut) }, nil, name)
	for _, e := range append(names(),
		eventfile.Event{Kind: eventfile.KindSnapshot, Time: 5000, Tid: svc, State: 1, Syscall: 35},
		waking(9000, 0, svc, 0, 0), sw(9000, 0, 0, svc, 0), blockIn(10000, 0, svc, 0, 35)) {
		b.Add(&e)
	}
	b.Finish(20000)
	if diff := cmp.Diff([]bool{true, false, false}, cut); diff != "" {
		t.Errorf("cut (-want +got):\n%s", diff)
	}
}

// A recording of any length must fit: what the builder keeps is by thread and
// CPU, not by event.
func TestMemoryDoesNotGrowWithTheRecording(t *testing.T) {
	segments := 0
	b := New(func(*Segment) { segments++ }, nil, name)
	for _, e := range names() {
		b.Add(&e)
	}
	at := Time(0)
	feed := func(turns int) uint64 {
		for range turns {
			for _, e := range []eventfile.Event{
				sw(at+10, 0, 0, svc, 0), span(eventfile.KindSoftirq, 0, svc, at+12, at+14), sw(at+20, 0, svc, hog, 0), sw(at+30, 0, hog, svc, 0),
				blockIn(at+40, 0, svc, 0, 202), waking(at+50, 0, svc, other, 0),
			} {
				b.Add(&e)
			}
			at += 60
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := feed(1000)
	if many := feed(100_000); many > few+1<<20 {
		t.Errorf("%d bytes after a thousand turns, %d after a hundred thousand", few, many)
	}
	if segments < 500_000 {
		t.Errorf("%d segments", segments)
	}
}
