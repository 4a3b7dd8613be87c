package collector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func task(tid, tgid uint32, start uint64, comm string, flags eventfile.Flags) *bpf.KernelTaskId {
	id := &bpf.KernelTaskId{Tid: tid, Tgid: tgid, Start: start, Flags: uint32(flags)}
	copy(id.Comm[:], comm)
	return id
}

func TestTaskIsWrittenWhenItsIdentityChanges(t *testing.T) {
	c := newTaskCache()
	for i, s := range []struct {
		id   *bpf.KernelTaskId
		want bool
	}{
		{task(7, 5, 100, "a b", 0), true},
		{task(7, 5, 100, "a b", 0), false},
		{task(8, 5, 100, "a b", 0), true},
		{task(7, 5, 100, "\x95", 0), true},
		{task(7, 5, 100, "\x95", 0), false},
		{task(7, 6, 200, "\x95", 0), true}, // the tid is another task's now
		{task(7, 6, 200, "\x95", eventfile.FlagTarget), true},
		{task(0, 0, 0, "swapper/0", eventfile.FlagKthread), true},
		{task(0, 0, 0, "swapper/1", eventfile.FlagKthread), false},
	} {
		e, isNew := c.see(s.id, eventfile.Time(i))
		if isNew != s.want {
			t.Errorf("step %d: new is %v", i, isNew)
		}
		if !isNew || s.id.Tid == 0 {
			continue
		}
		want := eventfile.Event{
			Kind: eventfile.KindTask, Time: eventfile.Time(i), Flags: eventfile.Flags(s.id.Flags),
			Tid: int32(s.id.Tid), Tgid: int32(s.id.Tgid), Start: s.id.Start, Comm: commString(s.id.Comm),
			Syscall: eventfile.NoSyscall,
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
}

func TestTaskCacheIsBounded(t *testing.T) {
	c := newTaskCache()
	for tid := range uint32(3 * maxKnownTasks) {
		c.see(task(tid+1, 1, 1, "x", 0), 0)
		if len(c.known) > maxKnownTasks {
			t.Fatalf("%d tasks are remembered", len(c.known))
		}
	}
}

func TestTargetsFollowForkAndExit(t *testing.T) {
	s := newTargetSet(10, 20)
	steps := []struct {
		e    eventfile.Event
		tgid int32
		live int
	}{
		{eventfile.Event{Kind: eventfile.KindFork, Tid: 10, Peer: 11, Tgid: 10, Flags: eventfile.FlagTarget}, 10, 2}, // a thread
		{eventfile.Event{Kind: eventfile.KindFork, Tid: 11, Peer: 30, Tgid: 30, Flags: eventfile.FlagTarget}, 10, 3},
		{eventfile.Event{Kind: eventfile.KindFork, Tid: 11, Peer: 40, Tgid: 40}, 10, 3}, // not followed
		{eventfile.Event{Kind: eventfile.KindExit, Tid: 11}, 10, 3},
		{eventfile.Event{Kind: eventfile.KindExit, Tid: 10, Flags: eventfile.FlagLast}, 10, 2},
		{eventfile.Event{Kind: eventfile.KindExit, Tid: 31, Flags: eventfile.FlagLast}, 30, 1},
		{eventfile.Event{Kind: eventfile.KindExit, Tid: 20, Flags: eventfile.FlagLast}, 20, 0},
	}
	for i, step := range steps {
		s.see(&step.e, step.tgid)
		if got := len(s.pids()); got != step.live {
			t.Errorf("step %d: %d live, want %d", i, got, step.live)
		}
	}
}
