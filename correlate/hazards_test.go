package correlate

import (
	"slices"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

func (res *Result) warnsOf(text string) bool {
	return slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, text) })
}

func TestLongWaitIsBookedToEachRequestForItsOwnTime(t *testing.T) {
	// The thread sleeps through the end of one window, the time between, and
	// the beginning of the next.
	s := newScenario(t)
	s.normal(98)
	begin := s.now
	window := func(id uint64, from, to int64) {
		s.windows = append(s.windows, eventfile.Window{
			Kind: "score", ID: rows.NumberID(id), Begin: begin.Add(from), End: begin.Add(to), Pid: svcTid, Tid: svcTid, EndTid: svcTid,
		})
		s.rows = append(s.rows, rows.Row{ID: rows.NumberID(id), HasID: true, Send: int64(begin) + from, Recv: int64(begin) + to, Status: 200})
	}
	window(1001, 0, 3000*us)
	window(1002, 5000*us, 9000*us)
	s.switchIn(0)
	s.run(1000 * us)
	s.offCPU(35, 6000*us, 0, eventfile.FlagHardirq)
	s.run(2000 * us)
	s.block(232)
	res := s.analyze()
	for _, r := range res.Requests[98:] {
		if got := r.Parts[part.Sleep]; got != 2000*us {
			t.Errorf("request %s slept %d ns of its own, want 2 ms", r.Label(), got)
		}
	}
}

func TestInterruptThatWokeNamesNoBystander(t *testing.T) {
	s := newScenario(t)
	_, x := s.slow(func() { s.offCPU(45, 5000*us, hogTid, eventfile.FlagSoftirq) })
	e := find(x, EvidenceWaker, nil)
	if e == nil || e.Context != "softirq" || e.Name != "" || e.Tid != 0 {
		t.Errorf("the waker is %+v", e)
	}
}

func TestHandlersThatShareALineCountOnlyForTheirOwnInterrupts(t *testing.T) {
	s := newScenario(t)
	_, x := s.slow(func() {
		for range 5 {
			s.run(200 * us)
			s.add(eventfile.Event{Kind: eventfile.KindIRQ, Tid: svcTid, Dur: 200 * us, ID: 11})
			s.run(300 * us)
			s.add(eventfile.Event{Kind: eventfile.KindIRQ, Tid: svcTid, Dur: 300 * us, ID: 11, Flags: eventfile.FlagHandled})
		}
	})
	e := find(x, EvidenceInterrupt, nil)
	if x.Verdict != "irq" || e == nil || e.Count != 5 || e.NS != 2500*us {
		t.Errorf("verdict %q, evidence %+v", x.Verdict, e)
	}
}

func TestStealIsEvidenceBesideRunning(t *testing.T) {
	s := newScenario(t)
	s.normal(60)
	s.now += 100e6
	s.request([3]int64{200, 1400, 400}, nil)
	slow := s.now
	s.now += 100e6
	s.normal(39)
	for at := s.header.Started; at < s.now+100e6; at += 100e6 {
		b := &eventfile.BoxSample{Time: at, CPUs: []eventfile.CPUSample{{CPU: 0, Steal: 1e6}, {CPU: 1, Busy: 50e6}}}
		if at-100e6 < slow && slow <= at {
			b.CPUs[0].Steal = 40e6
		}
		s.meta = append(s.meta, b)
	}
	_, x, _ := s.one()
	e := find(x, EvidenceSteal, nil)
	if x.Verdict != VerdictSlowCore || e == nil || *e.Value != 0.4 || *e.Normal != 0.01 {
		t.Errorf("verdict %q, steal %+v", x.Verdict, e)
	}
}

func TestWhatWasLostIsSaidWithItsPlace(t *testing.T) {
	s := newScenario(t)
	s.normal(10)
	s.meta = append(s.meta,
		&eventfile.Loss{Source: eventfile.LossRing, CPU: 1, Count: 7, First: s.header.Started + 2e6, Last: s.header.Started + 5e6, What: "kernel ring"},
		&eventfile.Loss{Source: eventfile.LossRecursion, CPU: -1, Count: 3, What: "sched_waking"},
		&eventfile.Loss{Source: eventfile.LossLate, CPU: -1, Count: 2, First: s.now, Last: s.now, What: "out of order in the file"})
	res := s.analyze()
	for _, want := range []string{
		"lost: 7 events on CPU 1 from 2ms to 5ms (kernel ring)",
		"lost: 3 events of nested programs (sched_waking)",
		"lost: 2 events out of order",
	} {
		if !res.warnsOf(want) {
			t.Errorf("no warning %q in %q", want, res.Warnings)
		}
	}
}

func TestStepsBackInTimeAreShown(t *testing.T) {
	s := newScenario(t)
	s.normal(10)
	s.events = append(s.events, eventfile.Event{Kind: eventfile.KindSoftirq, Tid: svcTid, Time: s.windows[3].Begin + 50*us, Dur: -9 * us})
	res := s.analyze()
	if !res.warnsOf("1 events step back in time on their thread, by 9µs at most") {
		t.Errorf("warnings %q", res.Warnings)
	}
}

func TestNamesOfTasksAreKeptAsTheyAre(t *testing.T) {
	for _, comm := range []string{"a b", "[x 0]", "\x95", "(sd-pam)", ""} {
		s := newScenario(t)
		_, x := s.slow(func() {
			s.add(eventfile.Event{Kind: eventfile.KindTask, Tid: hogTid, Tgid: hogTid, Comm: comm})
			s.preempted(5000 * us)
		})
		if e := find(x, EvidenceOccupant, nil); e == nil || e.Name != comm || e.Tid != hogTid {
			t.Errorf("the occupant %q is %+v", comm, e)
		}
	}
}

func TestReusedPidOfAnOccupantIsTheOneOfItsTime(t *testing.T) {
	s := newScenario(t)
	_, x := s.slow(func() {
		s.preempted(5000 * us)
		s.add(eventfile.Event{Kind: eventfile.KindTask, Tid: hogTid, Tgid: hogTid, Comm: "later"})
	})
	if e := find(x, EvidenceOccupant, nil); e == nil || e.Name != "hog" {
		t.Errorf("the occupant is %+v", e)
	}
}

func TestOwnRecorderIsNamedAsSuch(t *testing.T) {
	s := newScenario(t)
	s.meta = append(s.meta, &eventfile.Proc{Pid: hogTid, Comm: "tt", Cmdline: "tt -pid 7", Cgroup: "/user.slice/session-1.scope", Self: true})
	_, x := s.slow(func() { s.preempted(5000 * us) })
	if e := find(x, EvidenceOccupant, nil); e == nil || e.Name != "tailtrace" || e.Unit != "this recording" {
		t.Errorf("the occupant is %+v", e)
	}
}

func TestKernelThreadThatOccupiesIsNamedForItsWork(t *testing.T) {
	s := newScenario(t)
	_, x := s.slow(func() {
		s.add(eventfile.Event{Kind: eventfile.KindTask, Tid: hogTid, Tgid: hogTid, Comm: "ksoftirqd/0", Flags: eventfile.FlagKthread})
		s.preempted(5000 * us)
	})
	if e := find(x, EvidenceOccupant, nil); e == nil || e.Unit != "kernel thread: softirqs put off" {
		t.Errorf("the occupant is %+v", e)
	}
}
