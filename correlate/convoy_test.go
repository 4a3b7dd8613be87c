package correlate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// TestConvoyIsFollowedToTheThreadThatHeldTheLock has the request get a lock
// without an owner word from a thread that waited for it, too, and that one from
// a thread that worked for 4 ms with the lock in its hand.
func TestConvoyIsFollowedToTheThreadThatHeldTheLock(t *testing.T) {
	const ms = 1000 * us
	const holderTid = 102
	s := newScenario(t)
	s.add(eventfile.Event{Kind: eventfile.KindTask, Tid: holderTid, Tgid: svcTid, Comm: "holder", Flags: eventfile.FlagTarget, Start: 3})
	s.meta = append(s.meta,
		&eventfile.Stack{ID: 1, Pid: svcTid, Frames: []eventfile.Frame{
			{Addr: 1 << 63, Module: "[kernel]", Symbol: "irq"}, {Addr: 0x10, Offset: 0x10, Module: "/lib/libdb.so.1"},
			{Addr: 0x20, Offset: 0x20, Module: "/lib/libdb.so.1"}, {Addr: 0x30, Symbol: "db_step"}, {Symbol: eventfile.FrameCut}}},
		&eventfile.Stack{ID: 2, Pid: svcTid, Frames: []eventfile.Frame{{Addr: 0x18, Offset: 0x18, Module: "/lib/libdb.so.1"}, {Addr: 0x30, Symbol: "db_step"}}},
		&eventfile.Stack{ID: 3, Pid: svcTid, Frames: []eventfile.Frame{{Addr: 0x40, Symbol: "copy"}}})
	s.normal(60)
	s.request(normalSteps, func() {
		s.on1(-3*ms, eventfile.Event{Kind: eventfile.KindSwitch, Peer: lockTid})
		s.on1(-2*ms, eventfile.Event{Kind: eventfile.KindSwitch, Tid: lockTid, Peer: holderTid, State: eventfile.StateInterruptible, Syscall: 202})
		s.windows = append(s.windows, eventfile.Window{
			Kind: "score", ID: rows.NumberID(7), Begin: s.now.Add(-ms), End: s.now.Add(4500 * us), Tid: holderTid, EndTid: holderTid,
			Points: []eventfile.Point{{Type: eventfile.PointMark, Offset: ms / 2, Name: "validate"}, {Type: eventfile.PointMark, Offset: 5 * ms, Name: "lookup"}},
		})
		for i, stack := range []uint64{3, 1, 2, 1, 3} {
			s.on1(int64(i)*ms-100*us, eventfile.Event{Kind: eventfile.KindSample, Tid: holderTid, Stack: stack})
		}
		s.on1(4*ms, eventfile.Event{Kind: eventfile.KindWaking, Tid: lockTid, Peer: holderTid, DestCPU: 1})
		s.on1(4600*us, eventfile.Event{Kind: eventfile.KindSwitch, Tid: holderTid, Peer: lockTid, State: eventfile.StateInterruptible, Syscall: 202})
		s.offCPU(202, 5*ms, lockTid, 0)
		s.on1(10*us, eventfile.Event{Kind: eventfile.KindSwitch, Tid: lockTid, State: eventfile.StateInterruptible, Syscall: 202})
	})
	s.normal(39)
	_, x, _ := s.one()
	if x.Verdict != "lock" {
		t.Fatalf("verdict %q", x.Verdict)
	}
	i := slices.IndexFunc(x.Evidence, func(e Evidence) bool { return e.What == EvidenceWakerWas && e.Tid == holderTid })
	if i < 0 {
		t.Fatalf("the holder is not in %+v", x.Evidence)
	}
	want := Evidence{
		What: EvidenceWakerWas, Part: "lock", Name: "holder", Pid: svcTid, Tid: holderTid, Context: "running", State: "running",
		Request: "7", Step: "lookup", Calls: []string{"libdb.so.1", "db_step", eventfile.FrameCut}, NS: 4 * ms, Count: 3, Depth: 1,
	}
	if diff := cmp.Diff(want, x.Evidence[i]); diff != "" {
		t.Errorf("the holder (-want +got):\n%s", diff)
	}
}
