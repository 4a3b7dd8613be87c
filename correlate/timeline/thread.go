package timeline

import (
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

type state uint8

const (
	stateUnknown state = iota
	stateOnCPU
	stateRunnable
	stateBlocked
)

// thread is what is known of one traced thread now.
type thread struct {
	tid    int32
	pid    int32
	start  uint64
	cursor Time // all before it has been delivered or is unknown

	state state
	since Time  // when the state began
	cpu   int32 // where it runs, or in whose run queue it waits

	// On the CPU.
	spans     []Span
	foreign   int64 // see Segment
	faultFrom Time  // start of a page fault that was open when it got the CPU
	heldWake  wake  // a wakeup that came before the switch-out it belongs to

	// Runnable.
	why      part.Part // Preempted, Waking or Throttled
	occupant Ref       // who has the CPU; 0 until a switch there tells
	cpuIdle  bool      // its CPU went idle although it was runnable

	// Off the CPU.
	block    *Block
	blocked  part.Part
	faulting bool // inside a page fault

	past history
}

type wake struct {
	at    Time
	cpu   int32
	waker Ref
	by    eventfile.Flags
	on    int32
}

// set moves t into a new state that begins at the given time.
func (t *thread) set(s state, at Time) {
	t.state, t.since = s, at
}

// deliver emits one segment, cut where events that could have ended the
// thread's present state were lost.
func (b *Builder) deliver(t *thread, s Segment) {
	s.Tid, s.Pid, s.Since = t.tid, t.pid, t.since
	s.Start = max(s.Start, t.cursor)
	if s.End <= s.Start {
		return
	}
	t.cursor = s.End
	where := anyCPU
	if t.state == stateOnCPU {
		where = t.cpu // only its own CPU could have switched it out
	}
	if at, lost := b.losses.Within(where, t.since, s.End); lost {
		if at <= s.Start {
			return
		}
		s.End = at
	}
	b.sink(&s)
	t.past.add(&s)
}

// close ends t's present state at the given time without a successor.
func (b *Builder) close(t *thread, at Time) {
	at = max(at, t.cursor)
	switch t.state {
	case stateUnknown:
		return
	case stateOnCPU:
		b.stay(t, at)
	case stateRunnable:
		b.unqueue(t, at)
	case stateBlocked:
		b.deliver(t, Segment{CPU: t.cpu, Start: t.since, End: at, Part: t.blocked, Block: t.block})
	}
	t.set(stateUnknown, at)
	t.cursor = at
}

// stay delivers the stay on the CPU that ends at the given time.
func (b *Builder) stay(t *thread, end Time) {
	from := max(t.since, t.cursor)
	b.sweep.run(from, end, t.spans, func(start, end Time, p part.Part, s *Span) {
		b.deliver(t, Segment{CPU: t.cpu, Start: start, End: end, Part: p, Span: s, Foreign: t.foreign})
	})
	t.spans = t.spans[:0]
}

// maxSpans bounds the memory of a stay that never ends; what is older than
// settled by then is complete, as no interrupt lasts that long.
const (
	maxSpans = 1 << 16
	settled  = Time(1e9)
)

func (b *Builder) addSpan(t *thread, e *eventfile.Event) {
	s := Span{Start: e.Time.Add(-max(e.Dur, 0)), End: e.Time, Kind: e.Kind, ID: e.ID, Addr: e.Addr, Flags: e.Flags}
	if t.state != stateOnCPU && !b.arrivedUnseen(t, s.Start, e.CPU) {
		return // its switch-out is stamped before it
	}
	if e.Dur < 0 {
		b.Counts.Backwards++
		b.Counts.WorstBack = max(b.Counts.WorstBack, -e.Dur)
	}
	if e.Kind == eventfile.KindFault {
		t.faultFrom = 0
	}
	t.spans = append(t.spans, s)
	if len(t.spans) < maxSpans {
		return
	}
	if upTo := e.Time - settled; upTo > t.cursor {
		keep := slices.DeleteFunc(slices.Clone(t.spans), func(s Span) bool { return s.End <= upTo })
		b.stay(t, upTo)
		t.spans = append(t.spans, keep...)
	}
}

// arrivedUnseen puts t on the CPU from a moment on at which something
// interrupted it there, although no switch to it was seen: events were lost, or
// the kernel did not report it. What t did between its last event and that
// moment is unknown.
func (b *Builder) arrivedUnseen(t *thread, at Time, cpu int32) bool {
	if at <= t.since {
		return false
	}
	if t.state != stateUnknown {
		b.Counts.Inconsistent++
	}
	b.leave(t)
	at = max(at, t.cursor)
	t.set(stateOnCPU, at)
	t.cursor, t.cpu = at, cpu
	t.foreign, t.faultFrom, t.heldWake = 0, 0, wake{}
	return true
}

func (b *Builder) switchIn(t *thread, e *eventfile.Event, prev Ref) {
	at := b.order(t, e.Time)
	switch t.state {
	case stateRunnable:
		if t.cpu != e.CPU {
			// It moved without a migration in the trace; where it ran first
			// is where it had to wait.
			b.occupied(t, prev, at)
		}
		b.unqueue(t, at)
	case stateBlocked:
		b.wokenUnseen(t, at)
	case stateOnCPU:
		b.Counts.Inconsistent++ // its switch-out is missing: that stay is unknown
		t.spans = t.spans[:0]
	}
	t.set(stateOnCPU, at)
	t.cursor, t.cpu = at, e.CPU
	t.foreign = max(e.Dur, 0)
	t.heldWake = wake{}
	if !t.faulting {
		t.faultFrom = 0
	}
}

// wokenUnseen ends a wait at the switch-in because no wakeup came in between.
func (b *Builder) wokenUnseen(t *thread, at Time) {
	if h := t.heldWake; h.at != 0 {
		t.block.Woken, t.block.Waker, t.block.WakerBy, t.block.WakeCPU = h.at, h.waker, h.by, h.on
		b.deliver(t, Segment{CPU: h.cpu, Start: t.since, End: at, Part: part.Waking, Block: t.block})
		return
	}
	b.Counts.NoWakeup++
	b.deliver(t, Segment{CPU: t.cpu, Start: t.since, End: at, Part: t.blocked, Block: t.block})
}

func (b *Builder) switchOut(t *thread, e *eventfile.Event) {
	at := b.order(t, e.Time)
	if t.state == stateOnCPU && t.cpu == e.CPU {
		b.closeFault(t, e, at)
		b.stay(t, at)
	} else if t.state != stateUnknown {
		b.Counts.Inconsistent++
		b.leave(t)
	}
	t.cursor = at
	t.faulting = e.FaultStart != 0
	t.faultFrom = e.FaultStart
	if e.State == eventfile.StateRunning {
		t.set(stateRunnable, at)
		t.why, t.block = part.Preempted, nil
		if e.Flags&eventfile.FlagThrottled != 0 {
			t.why = part.Throttled
		}
		b.queue(t, e.CPU)
		t.occupant, t.cpuIdle = b.Tasks.Now(e.Peer), e.Peer == 0
		return
	}
	if e.State&(eventfile.StateDead|eventfile.StateZombie) != 0 {
		t.set(stateUnknown, at)
		return
	}
	t.set(stateBlocked, at)
	t.cpu = e.CPU
	t.block = &Block{Since: at, State: e.State, Syscall: b.syscallName(e.Syscall), Args: e.Args, Owner: e.Owner, Stack: e.Stack, Pid: t.pid}
	if t.faulting {
		t.block.Addr = e.Addr
	}
	t.blocked = blockedPart(t.block, t.faulting, FileType(e.FdType))
	if t.heldWake.at < at && at-t.heldWake.at > heldLimit {
		t.heldWake = wake{}
	}
}

// heldLimit is how long before a switch-out a wakeup can still belong to it:
// from the moment the scheduler took the task off its run queue to the switch.
const heldLimit = Time(1e6)

// closeFault books the time in a page fault that is still open at a switch-out.
// A fault that was open at the switch-in and is no longer has ended unseen.
func (b *Builder) closeFault(t *thread, e *eventfile.Event, at Time) {
	switch {
	case e.FaultStart != 0:
		t.spans = append(t.spans, Span{Start: e.FaultStart, End: at, Kind: eventfile.KindFault, Addr: e.Addr, Flags: eventfile.FlagCut})
	case t.faultFrom != 0:
		b.Counts.LostFaults++
	}
}

func (b *Builder) syscallName(nr int32) string {
	if nr < 0 || b.syscalls == nil {
		return ""
	}
	return b.syscalls(nr)
}
