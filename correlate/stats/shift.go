package stats

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A ShiftTest asks how often an attribute would meet the tail this often if
// the two had nothing to do with each other. It turns the attribute's series
// against the tail's, as two rings, by every possible shift: each keeps its
// own bursts, only their coincidence is broken. Tests that take requests as
// independent call bursty attributes significant far too often.
type ShiftTest struct {
	n        int
	tail     []int // indices
	fft      *fourier.FFT
	spectrum []complex128 // of the tail
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

// convolve counts by Fourier transforms, padded to a power of two and folded
// back into the ring. Counts stay far below the 2^53 that would cost exactness.
func (t *ShiftTest) convolve(with []int) []int {
	size := 1 << bits.Len(uint(2*t.n-1))
	if t.fft == nil {
		t.fft = fourier.NewFFT(size)
		t.spectrum = t.fft.Coefficients(nil, indicator(t.tail, size))
	}
	product := t.fft.Coefficients(nil, indicator(with, size))
	for i, c := range t.spectrum {
		product[i] *= complex(real(c), -imag(c))
	}
	linear := t.fft.Sequence(nil, product)
	overlaps := make([]int, t.n)
	for s := range overlaps {
		count := linear[s]
		if s > 0 {
			count += linear[size-t.n+s]
		}
		overlaps[s] = int(math.Round(count / float64(size)))
	}
	return overlaps
}

func indicator(indices []int, size int) []float64 {
	series := make([]float64, size)
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
