// Package timeline turns the kernel's events into an exact history of each
// traced thread: a sequence of segments that never overlap, each in one state.
// Where the trace does not say what a thread did, there is no segment, so that
// a consumer books the remainder as unknown.
//
// Events are taken in the order of their time. A step back is tolerated: it is
// counted, and never yields a negative or doubled span.
package timeline

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// Time is nanoseconds on CLOCK_MONOTONIC.
type Time = eventfile.Time

// Segment is a stretch of one thread's history, [Start, End). It belongs to the
// builder and is valid during the call that delivers it.
type Segment struct {
	Tid   int32
	Pid   int32
	CPU   int32 // where it ran, or waited; -1 where that is not known
	Start Time
	End   Time
	Part  part.Part

	// Since is when the thread's present state began: all segments of a stay
	// on the CPU have the same.
	Since Time
	// Foreign is for how long untraced tasks had had the CPU, ns, since a
	// traced thread left it, when this stay on it began.
	Foreign int64
	// Occupant had the CPU while the thread waited for it (Preempted,
	// Waking). Zero is unknown; Idle says the CPU was idle.
	Occupant Ref
	// Span is the interrupt or fault of an IRQ, Softirq, NMI or Fault
	// segment.
	Span *Span
	// Block says what a thread off the CPU waited for. It is shared by the
	// segments of one wait, the Waking one that ends it included.
	Block *Block
}

// Len returns the segment's length in nanoseconds.
func (s *Segment) Len() int64 { return int64(s.End - s.Start) }

// Span is an interrupt or a page fault inside a stay on the CPU.
type Span struct {
	Start, End Time
	Kind       eventfile.Kind
	ID         uint32
	Addr       uint64
	Flags      eventfile.Flags
}

// Block is one voluntary wait: why it began and who ended it.
type Block struct {
	Since   Time
	State   uint32
	Syscall string // "" where the thread was in none
	Args    [3]uint64
	Pid     int32
	Owner   int32  // tid in the futex's owner word, or 0
	Stack   uint64 // id of an eventfile.Stack, or 0
	Addr    uint64 // of the page fault that it waits in, or 0
	Woken   Time   // 0 where no wakeup was seen
	Waker   Ref    // 0 where not known
	WakerBy eventfile.Flags
	WakeCPU int32
	Cut     bool // it began before the recording: its length is "at least"
}

// Counters tell how well the events fitted together.
type Counters struct {
	Backwards    uint64 // events older than what their thread had passed
	WorstBack    int64  // ns, the largest such step
	Inconsistent uint64 // a thread's events contradict each other: some are missing
	Unseen       uint64 // stays on a CPU that a thread has left and come back to, without events
	NoWakeup     uint64 // waits that ended without a wakeup in the trace
	LostFaults   uint64 // page faults whose end was not seen
}

// Distance returns how far t is from the wait, ns; 0 inside of it.
func (b *Block) Distance(t Time) int64 {
	switch {
	case t < b.Since:
		return int64(b.Since - t)
	case b.Woken != 0 && t > b.Woken:
		return int64(t - b.Woken)
	}
	return 0
}
