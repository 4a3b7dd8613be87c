package timeline

import (
	"maps"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Builder makes segments of events. Add takes events in time order; Finish
// closes what is still open.
type Builder struct {
	Tasks  *Tasks
	Counts Counters
	// Throttled says for how long the traced cgroup was out of quota, ns,
	// around [from, to). It may be nil.
	Throttled func(from, to Time) int64

	// Counted is told of each stay on a CPU whose counts the trace has, a
	// thread's in time order. It may be nil.
	Counted func(*Stay)

	sink     func(*Segment)
	losses   *Losses
	syscalls func(nr int32) string
	threads  map[int32]*thread
	passed   map[int32]Time // how far the former thread of a tid was delivered
	cpus     map[int32]*cpu
	sweep    sweeper

	outOfQuota outOfQuota
}

// cpu knows which traced threads wait in its run queue.
type cpu struct {
	waiters []*thread
}

// New returns a builder that delivers segments to sink, each thread's in time
// order. syscalls names system call numbers of the recorded machine; losses
// may be nil.
func New(sink func(*Segment), losses *Losses, syscalls func(nr int32) string) *Builder {
	return &Builder{
		Tasks: NewTasks(), sink: sink, losses: losses, syscalls: syscalls,
		threads: map[int32]*thread{}, passed: map[int32]Time{}, cpus: map[int32]*cpu{},
	}
}

// Add takes the next event. It keeps no reference to e.
func (b *Builder) Add(e *eventfile.Event) {
	switch e.Kind {
	case eventfile.KindTask:
		b.addTask(e)
	case eventfile.KindSwitch:
		b.addSwitch(e)
	case eventfile.KindWaking, eventfile.KindWakeupNew:
		if t := b.threads[e.Tid]; t != nil {
			b.addWaking(t, e)
		}
	case eventfile.KindMigrate:
		if t := b.threads[e.Tid]; t != nil && t.state == stateRunnable {
			b.unqueue(t, b.order(t, e.Time))
			b.queue(t, e.DestCPU)
		}
	case eventfile.KindSnapshot:
		if t := b.threads[e.Tid]; t != nil && t.state == stateUnknown {
			b.addSnapshot(t, e)
		}
	case eventfile.KindCounters:
		if t := b.threads[e.Tid]; t != nil {
			b.addCounters(t, e)
		}
	case eventfile.KindExec:
		b.rename(e.Peer, e.Tid, e.Time)
	case eventfile.KindFault, eventfile.KindIRQ, eventfile.KindSoftirq, eventfile.KindVector, eventfile.KindNMI:
		if t := b.threads[e.Tid]; t != nil {
			b.addSpan(t, e)
		}
	}
}

// Finish closes every thread's open state at end, the time up to which the
// recording is known to be complete.
func (b *Builder) Finish(end Time) {
	for _, tid := range slices.Sorted(maps.Keys(b.threads)) {
		b.close(b.threads[tid], end)
	}
}

func (b *Builder) addTask(e *eventfile.Event) {
	b.Tasks.Add(e)
	if e.Flags&eventfile.FlagTarget == 0 {
		return
	}
	t := b.threads[e.Tid]
	if t != nil && (t.start == e.Start || e.Start == 0 || t.start == 0) {
		t.start = max(t.start, e.Start)
		return
	}
	if t != nil { // the tid was reused
		b.close(t, e.Time)
		b.passed[e.Tid] = t.cursor
	}
	b.threads[e.Tid] = &thread{tid: e.Tid, pid: e.Tgid, start: e.Start, cpu: anyCPU, cursor: max(e.Time, b.passed[e.Tid])}
}

// rename follows an exec in a thread that was not its process's leader: it
// takes over the leader's tid.
func (b *Builder) rename(from, to int32, at Time) {
	t := b.threads[from]
	if t == nil || from == to {
		return
	}
	b.passed[from] = t.cursor
	if old := b.threads[to]; old != nil {
		b.close(old, at)
		b.passed[to] = old.cursor
		t.start = old.start
	}
	t.cursor = max(t.cursor, b.passed[to])
	delete(b.threads, from)
	t.tid = to
	b.threads[to] = t
}

func (b *Builder) addSwitch(e *eventfile.Event) {
	prev := b.Tasks.Now(e.Tid)
	for _, t := range b.cpu(e.CPU).waiters {
		if t.tid == e.Tid {
			continue // it was there already: when its wait ended is unknown
		}
		at := max(e.Time, t.cursor)
		if t.tid != e.Peer { // whose own step back switchIn counts
			at = b.order(t, e.Time)
		}
		b.occupied(t, prev, at)
		t.cpuIdle = e.Peer == 0
		t.occupant = b.Tasks.Now(e.Peer)
	}
	if t := b.threads[e.Tid]; t != nil && e.Tid != 0 {
		b.switchOut(t, e)
	}
	if t := b.threads[e.Peer]; t != nil && e.Peer != 0 {
		b.switchIn(t, e, prev)
	}
}

// order returns at, or where the thread has already passed it, the thread's
// own time: stamps of one CPU can step back, and two CPUs can differ.
func (b *Builder) order(t *thread, at Time) Time {
	if at >= t.cursor {
		return at
	}
	b.Counts.Backwards++
	b.Counts.WorstBack = max(b.Counts.WorstBack, int64(t.cursor-at))
	return t.cursor
}

func (b *Builder) cpu(n int32) *cpu {
	c := b.cpus[n]
	if c == nil {
		c = &cpu{}
		b.cpus[n] = c
	}
	return c
}
