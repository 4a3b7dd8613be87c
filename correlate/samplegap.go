package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// gapFinder finds stretches in which a thread had the CPU, as the switches
// tell it, and the sampling clock did not tick there: the CPU itself was
// away, as when a hypervisor takes it.
type gapFinder struct {
	period  int64            // ns between samples; 0: there are none
	samples map[int32][]Time // by CPU, ascending
	stays   map[int32]*sampledStay
	gaps    map[int32][]sampleGap // by tid, ascending
	losses  *timeline.Losses
}

// sampledStay is a thread's present stay on a CPU.
type sampledStay struct {
	since Time
	mark  Time // of the last sample in it, or its start
}

type sampleGap struct{ start, end Time }

const (
	// minGapPeriods is more than two: one sample may be lost.
	minGapPeriods = 2.5
	// maxSamples bounds how many samples of a CPU are remembered.
	maxSamples = 1 << 12
)

func newGapFinder(h *eventfile.Header, losses *timeline.Losses) *gapFinder {
	g := &gapFinder{
		samples: map[int32][]Time{}, stays: map[int32]*sampledStay{}, gaps: map[int32][]sampleGap{}, losses: losses,
	}
	if h.SampleHz > 0 {
		g.period = 1e9 / int64(h.SampleHz)
	}
	return g
}

func (g *gapFinder) sample(e *eventfile.Event) {
	list := g.samples[e.CPU]
	if len(list) >= maxSamples {
		list = list[:copy(list, list[maxSamples/2:])]
	}
	g.samples[e.CPU] = append(list, e.Time)
}

// segment takes the next segment of a thread.
func (g *gapFinder) segment(s *timeline.Segment) {
	if g.period == 0 || !s.Part.OnCPU() {
		return
	}
	st := g.stays[s.Tid]
	if st == nil || st.since != s.Since {
		st = &sampledStay{since: s.Since, mark: s.Start}
		g.stays[s.Tid] = st
	}
	list := g.samples[s.CPU]
	i, _ := slices.BinarySearch(list, st.mark+1)
	for ; i < len(list) && list[i] < s.End; i++ {
		g.add(s, st.mark, list[i])
		st.mark = list[i]
	}
	g.add(s, st.mark, s.End)
}

func (g *gapFinder) add(s *timeline.Segment, from, to Time) {
	if float64(to-from) < minGapPeriods*float64(g.period) {
		return
	}
	if _, lost := g.losses.Within(s.CPU, from, to); lost {
		return
	}
	list := g.gaps[s.Tid]
	if n := len(list); n > 0 && list[n-1].start == from {
		list[n-1].end = to
		return
	}
	g.gaps[s.Tid] = append(list, sampleGap{from, to})
}

// longest returns the length of the longest gap of a thread that overlaps
// [from, to), ns.
func (g *gapFinder) longest(tid int32, from, to Time) (ns int64) {
	list := g.gaps[tid]
	i, _ := slices.BinarySearchFunc(list, from, func(x sampleGap, t Time) int { return cmp.Compare(x.end, t) })
	for ; i < len(list) && list[i].start < to; i++ {
		ns = max(ns, int64(list[i].end-list[i].start))
	}
	return ns
}
