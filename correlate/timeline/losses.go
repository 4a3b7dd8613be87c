package timeline

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Losses finds the gaps of a trace by CPU and time. What a thread did after
// events were lost is unknown until its next event.
type Losses struct {
	all   gaps
	byCPU map[int32]gaps
}

// NewLosses takes those losses that bound a time range in which a thread's state
// may have changed. A page fault that is missing changes none.
func NewLosses(list []eventfile.Loss) *Losses {
	l := &Losses{byCPU: map[int32]gaps{}}
	for i := range list {
		x := &list[i]
		if x.Source == eventfile.LossWindow || x.Source == eventfile.LossSkipped || x.Count == 0 || x.Last < x.First || x.Last == 0 {
			continue
		}
		g := gap{x.First, x.Last}
		l.all = append(l.all, g)
		l.byCPU[x.CPU] = append(l.byCPU[x.CPU], g)
	}
	l.all = l.all.sorted()
	for cpu, g := range l.byCPU {
		l.byCPU[cpu] = g.sorted()
	}
	return l
}

// anyCPU asks Within for the gaps of every CPU.
const anyCPU int32 = -1

// Within returns the first moment in [start, end) from which on events of cpu
// (anyCPU: of some CPU) may be missing.
func (l *Losses) Within(cpu int32, start, end Time) (Time, bool) {
	if l == nil || len(l.all) == 0 {
		return 0, false
	}
	g := l.all
	if cpu != anyCPU {
		g = l.byCPU[cpu]
		if at, ok := l.byCPU[anyCPU].within(start, end); ok {
			if first, ok := g.within(start, end); ok {
				at = min(at, first)
			}
			return at, true
		}
	}
	return g.within(start, end)
}

type gap struct{ first, last Time }

type gaps []gap

// sorted orders by time and joins overlapping gaps, so that both ends rise.
func (g gaps) sorted() gaps {
	slices.SortFunc(g, func(a, b gap) int { return cmp.Compare(a.first, b.first) })
	out := g[:0]
	for _, x := range g {
		if n := len(out); n > 0 && x.first <= out[n-1].last {
			out[n-1].last = max(out[n-1].last, x.last)
			continue
		}
		out = append(out, x)
	}
	return out
}

func (g gaps) within(start, end Time) (Time, bool) {
	i, _ := slices.BinarySearchFunc(g, start, func(x gap, t Time) int { return cmp.Compare(x.last, t) })
	if i == len(g) || g[i].first >= end {
		return 0, false
	}
	return max(start, g[i].first), true
}
