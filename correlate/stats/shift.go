package stats

import "math"

// A ShiftTest asks how often an attribute would meet the tail this often if
// the two had nothing to do with each other. It turns the attribute's series
// against the tail's, as two rings, by every possible shift: each keeps its
// own bursts, only their coincidence is broken. Tests that take requests as
// independent call bursty attributes significant far too often.
type ShiftTest struct {
	n    int
	tail []int // indices
	ring *ring // of the tail, made when first needed
}

// NewShiftTest prepares for the tail's flags in the order of sending.
func NewShiftTest(tail []bool) *ShiftTest {
	return &ShiftTest{n: len(tail), tail: indicesOf(tail)}
}

func indicesOf(flags []bool) (indices []int) {
	for i, set := range flags {
		if set {
			indices = append(indices, i)
		}
	}
	return indices
}

// Overlaps counts, for each shift s, the i for which tail[i] and has[i+s], of
// n flags each. They sum to the product of the two numbers of set flags.
func (t *ShiftTest) Overlaps(has []bool) []int {
	with := indicesOf(has)
	// A pair costs about a nanosecond and a transform about 30 n of them.
	if len(t.tail)*len(with) <= 50*t.n {
		overlaps := make([]int, t.n)
		for _, i := range t.tail {
			for _, j := range with {
				s := j - i
				if s < 0 {
					s += t.n
				}
				overlaps[s]++
			}
		}
		return overlaps
	}
	return t.convolve(with)
}

// convolve counts by Fourier transforms. Counts stay far below the 2^53 that
// would cost exactness.
func (t *ShiftTest) convolve(with []int) []int {
	if t.ring == nil {
		t.ring = newRing(indicator(t.tail, t.n))
	}
	overlaps := make([]int, t.n)
	for s, sum := range t.ring.against(indicator(with, t.n)) {
		overlaps[s] = int(math.Round(sum))
	}
	return overlaps
}

func indicator(indices []int, n int) []float64 {
	series := make([]float64, n)
	for _, i := range indices {
		series[i] = 1
	}
	return series
}

// P is the share of shifts, none included, at which the attribute meets the
// tail at least as often as it does: an exact one-sided p-value.
func (t *ShiftTest) P(has []bool) float64 {
	if t.n == 0 {
		return 1
	}
	overlaps := t.Overlaps(has)
	atLeast := 0
	for _, overlap := range overlaps {
		if overlap >= overlaps[0] {
			atLeast++
		}
	}
	return float64(atLeast) / float64(t.n)
}
