package correlate

import (
	"slices"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// on adds an event of CPU 1 at an offset from now, for the thread that the
// request waits for.
func (s *scenario) on1(offset int64, e eventfile.Event) {
	e.Time, e.CPU = s.now.Add(offset), 1
	if e.Kind == eventfile.KindSwitch && e.Syscall == 0 {
		e.Syscall = eventfile.NoSyscall
	}
	s.events = append(s.events, e)
}

func TestChainFollowsTheWakerToWhatHeldItUp(t *testing.T) {
	const ms = 1000 * us
	s := newScenario(t)
	s.normal(60)
	s.request(normalSteps, func() {
		// The worker gets the CPU, blocks in fsync, is woken, and has to
		// wait behind the hog before it can unlock.
		s.on1(-100*us, eventfile.Event{Kind: eventfile.KindSwitch, Peer: lockTid})
		s.on1(100*us, eventfile.Event{Kind: eventfile.KindSwitch, Tid: lockTid, Peer: hogTid, State: eventfile.StateUninterruptible, Syscall: 74})
		s.on1(2*ms, eventfile.Event{Kind: eventfile.KindWaking, Tid: lockTid, Flags: eventfile.FlagSoftirq, DestCPU: 1})
		s.on1(4900*us, eventfile.Event{Kind: eventfile.KindSwitch, Tid: hogTid, Peer: lockTid})
		s.offCPU(202, 5*ms, lockTid, 0)
		s.on1(10*us, eventfile.Event{Kind: eventfile.KindSwitch, Tid: lockTid, State: eventfile.StateInterruptible, Syscall: 202})
	})
	s.normal(39)
	_, x, _ := s.one()
	if x.Verdict != "lock" {
		t.Fatalf("verdict %q", x.Verdict)
	}
	for _, want := range []Evidence{
		{What: EvidenceWakerWas, Context: "waiting for the CPU behind hog[200]", NS: 2900 * us},
		{What: EvidenceWakerWas, Context: "in fsync (io)", NS: 1900 * us},
	} {
		if !slices.ContainsFunc(x.Evidence, func(e Evidence) bool {
			return e.What == want.What && e.Context == want.Context && e.NS == want.NS && e.Tid == lockTid
		}) {
			t.Errorf("no evidence %+v in %+v", want, x.Evidence)
		}
	}
}

func TestHolderIsFollowedIntoItsOwnRequest(t *testing.T) {
	const ms = 1000 * us
	s := newScenario(t)
	s.normal(60)
	s.request(normalSteps, func() {
		s.on1(-100*us, eventfile.Event{Kind: eventfile.KindSwitch, Peer: lockTid})
		s.windows = append(s.windows, eventfile.Window{
			Kind: "score", ID: eventfile.ID{Bytes: [16]byte{7, 7, 7}}, Begin: s.now.Add(-50 * us), End: s.now.Add(6 * ms), Tid: lockTid, EndTid: lockTid,
		})
		s.add(eventfile.Event{
			Kind: eventfile.KindSwitch, Tid: svcTid, State: eventfile.StateInterruptible, Syscall: 202, Owner: lockTid,
		})
		s.run(5 * ms)
		s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Peer: lockTid})
		s.switchIn(0)
	})
	s.normal(39)
	res := s.analyze()
	for _, r := range res.Requests {
		if !r.Tail {
			continue
		}
		x := res.Explain(r)
		if !slices.ContainsFunc(x.Evidence, func(e Evidence) bool {
			return e.What == EvidenceHolderWas && e.Context == "running" && e.NS == 5*ms && e.Tid == lockTid && e.Request == "460551"
		}) {
			t.Errorf("the holder's running is not in %+v", x.Evidence)
		}
	}
}
