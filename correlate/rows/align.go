package rows

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

// Anchor is one reading of two clocks at the same moment, ns.
type Anchor struct{ Mono, Real int64 }

// ToMonotonic converts a Set of wall-clock times to CLOCK_MONOTONIC. Each row
// goes by the anchor whose wall-clock reading is nearest to its send time, so
// that a wall clock that stepped is followed; send, recv and intended move
// together and the latency stays what the client measured. Sets on other
// clocks are left as they are. Rows keep their order.
func (s *Set) ToMonotonic(anchors []Anchor) error {
	if s.Clock.Kind != ClockEpoch {
		return nil
	}
	if len(anchors) == 0 {
		return errors.New("convert wall-clock rows: no reading of the wall clock was recorded")
	}
	byReal := slices.Clone(anchors)
	slices.SortStableFunc(byReal, func(x, y Anchor) int { return cmp.Compare(x.Real, y.Real) })
	for i := range s.Rows {
		a := nearest(byReal, s.Rows[i].Send)
		s.Rows[i].shift(a.Mono - a.Real)
	}
	s.Clock.Kind = ClockMonotonic
	s.Steps = nil
	return nil
}

func nearest(byReal []Anchor, real int64) Anchor {
	at := sort.Search(len(byReal), func(i int) bool { return byReal[i].Real >= real })
	if at == len(byReal) || at > 0 && real-byReal[at-1].Real <= byReal[at].Real-real {
		at--
	}
	return byReal[at]
}

// Shift moves all times of the Set by ns, as an offset from OffsetOf does.
func (s *Set) Shift(ns int64) {
	for i := range s.Rows {
		s.Rows[i].shift(ns)
	}
}

func (r *Row) shift(ns int64) {
	r.Send += ns
	r.Recv += ns
	if r.HasIntended {
		r.Intended += ns
	}
}

// Pair is a row and the service's window of the same request, on two clocks.
type Pair struct{ Send, Recv, Begin, End int64 }

// OffsetOf estimates what must be added to the rows' clock to get the
// windows'. A window lies inside its row, so each pair bounds the offset:
// End - Recv <= offset <= Begin - Send. The estimate is the middle of the
// bounds that all pairs share; where a pair contradicts the others (a wrong
// join, a clock that drifts) it is the middle of the median bounds, and
// outside counts the pairs whose window then is not inside their row.
func OffsetOf(pairs []Pair) (offset int64, outside int) {
	if len(pairs) == 0 {
		return 0, 0
	}
	lows, highs := make([]int64, len(pairs)), make([]int64, len(pairs))
	for i, p := range pairs {
		lows[i], highs[i] = p.End-p.Recv, p.Begin-p.Send
	}
	slices.Sort(lows)
	slices.Sort(highs)
	low, high := lows[len(lows)-1], highs[0]
	if low > high {
		low, high = lows[len(lows)/2], highs[len(highs)/2]
	}
	offset = low + (high-low)/2
	for _, p := range pairs {
		if p.Send+offset > p.Begin || p.Recv+offset < p.End {
			outside++
		}
	}
	return offset, outside
}
