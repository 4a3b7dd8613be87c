package timeline

import "github.com/tailtrace/tailtrace/collector/eventfile"

// Stay is one stay of a thread on a CPU, from the switch to the thread to the
// switch from it.
type Stay struct {
	Tid, CPU   int32
	Start, End Time
	// Counts are what the CPU counted meanwhile, by eventfile.Counter, of the
	// counters whose bits are in Counted; the others were not measured.
	Counts  [eventfile.Counters]uint64
	Counted uint32
	// Away is for how much of it the kernel did not charge the thread, ns;
	// 0 = little, or not known.
	Away int64
	// Lag is for how much of it, at its end, the clock by which the thread is
	// charged stood still, ns; 0 = little, or not known.
	Lag int64
	// Unseen: the thread has left the CPU in between, which the trace does not
	// show.
	Unseen bool
}

// Len returns the stay's length in nanoseconds.
func (s *Stay) Len() int64 { return int64(s.End - s.Start) }

// addCounters passes on a stay that is about to end. Counts of any other
// stretch of time than the trace has are of no use.
func (b *Builder) addCounters(t *thread, e *eventfile.Event) {
	if b.Counted == nil || t.state != stateOnCPU || t.cpu != e.CPU || t.since != e.Time.Add(-e.Dur) || e.Dur <= 0 {
		return
	}
	unseen := e.Flags&eventfile.FlagUnseen != 0
	if unseen {
		b.Counts.Unseen++
	}
	b.Counted(&Stay{Tid: t.tid, CPU: e.CPU, Start: t.since, End: e.Time, Counts: e.Counts, Counted: e.ID, Away: e.Away, Lag: e.Lag, Unseen: unseen})
}
