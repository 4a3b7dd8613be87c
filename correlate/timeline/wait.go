package timeline

import (
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// addWaking handles a wakeup. One that arrives while the thread still runs is
// held: it counts only if the thread blocks without another one.
func (b *Builder) addWaking(t *thread, e *eventfile.Event) {
	at := b.order(t, e.Time)
	switch t.state {
	case stateBlocked:
		t.block.Woken, t.block.Waker, t.block.WakerBy, t.block.WakeCPU = at, b.Tasks.Now(e.Peer), e.Flags, e.CPU
		b.deliver(t, Segment{CPU: t.cpu, Start: t.since, End: at, Part: t.blocked, Block: t.block})
		t.heldWake = wake{}
		b.woken(t, at, e)
	case stateUnknown:
		t.cursor = at
		t.block = &Block{Since: at, Woken: at, Waker: b.Tasks.Now(e.Peer), WakerBy: e.Flags, WakeCPU: e.CPU, Pid: t.pid, Cut: true}
		b.woken(t, at, e)
	case stateOnCPU:
		if e.Flags&eventfile.FlagOnRq == 0 {
			t.heldWake = wake{at: at, cpu: e.DestCPU, waker: b.Tasks.Now(e.Peer), by: e.Flags, on: e.CPU}
		}
	}
}

func (b *Builder) woken(t *thread, at Time, e *eventfile.Event) {
	t.set(stateRunnable, at)
	t.why = part.Waking
	if e.Flags&eventfile.FlagThrottled != 0 {
		t.why = part.Throttled
	}
	b.queue(t, e.DestCPU)
}

// addSnapshot takes the state in which the recording found the thread.
func (b *Builder) addSnapshot(t *thread, e *eventfile.Event) {
	at := b.order(t, e.Time)
	t.cursor = at
	switch {
	case e.Flags&eventfile.FlagOnCPU != 0:
		t.set(stateOnCPU, at)
		t.cpu = e.CPU
	case e.State == eventfile.StateRunning:
		t.set(stateRunnable, at)
		t.why, t.block = part.Preempted, nil
		b.queue(t, e.CPU)
	default:
		t.set(stateBlocked, at)
		t.cpu = e.CPU
		t.block = &Block{Since: at, State: e.State, Syscall: b.syscallName(e.Syscall), Args: e.Args, Pid: t.pid, Cut: true}
		t.blocked = blockedPart(t.block, false, FileType(e.FdType))
	}
}

func (b *Builder) queue(t *thread, cpu int32) {
	t.cpu = cpu
	t.occupant, t.cpuIdle = 0, false
	c := b.cpu(cpu)
	c.waiters = append(c.waiters, t)
}

// unqueue takes t out of its run queue and delivers the wait since the last
// switch there.
func (b *Builder) unqueue(t *thread, at Time) {
	b.leave(t)
	b.occupied(t, t.occupant, at)
	if t.why == part.Throttled {
		b.outOfQuota.add(t.since, at)
	}
}

func (b *Builder) leave(t *thread) {
	if t.state != stateRunnable {
		return
	}
	c := b.cpu(t.cpu)
	if i := slices.Index(c.waiters, t); i >= 0 {
		c.waiters = slices.Delete(c.waiters, i, i+1)
	}
}

// idleRace is how soon after a wakeup its CPU may still go idle: the thread is
// then on its way into the queue, not kept from running.
const idleRace = Time(100e3)

// occupied delivers the wait up to the given time, during which who had the
// CPU. A CPU that was idle when the thread was woken is only slow to leave
// idle, unless the quota kept it so; one that goes idle while the thread is
// runnable refuses to run it. A throttled thread waits for its quota, whoever
// has the CPU meanwhile.
func (b *Builder) occupied(t *thread, who Ref, at Time) {
	s := Segment{CPU: t.cpu, Start: max(t.since, t.cursor), End: at, Part: t.why, Occupant: who, Block: t.block}
	wentIdle := t.cpuIdle && (t.why == part.Preempted || s.Start-t.since > idleRace)
	if t.why == part.Throttled || wentIdle || b.keptIdle(t, who, &s) {
		s.Part, s.Occupant = part.Throttled, 0
	}
	b.deliver(t, s)
}

// slowIdle is how long a CPU may take to leave idle; a halted virtual one takes
// some 100 us at times.
const slowIdle = Time(1e6)

// keptIdle reports whether a woken thread's CPU stayed idle for want of quota:
// its cgroup was throttled for as long as the whole wait. That is counted by
// the 100 ms, so waits that were over by then are taken out of the count.
func (b *Builder) keptIdle(t *thread, who Ref, s *Segment) bool {
	if b.Throttled == nil || t.why != part.Waking || who != Idle || s.Start != t.since || s.End-s.Start <= slowIdle {
		return false
	}
	return b.Throttled(s.Start, s.End)-b.outOfQuota.before(s.Start) >= s.Len()-int64(idleRace)
}
