package stats

import (
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// ring holds a series, as a ring, against others of its length at every shift.
type ring struct {
	n        int
	size     int // padded to a power of two, which transforms fast
	fft      *fourier.FFT
	spectrum []complex128
}

func newRing(series []float64) *ring {
	size := 1 << bits.Len(uint(2*len(series)-1))
	r := &ring{n: len(series), size: size, fft: fourier.NewFFT(size)}
	r.spectrum = r.transform(series)
	return r
}

func (r *ring) transform(series []float64) []complex128 {
	padded := make([]float64, r.size)
	copy(padded, series)
	return r.fft.Coefficients(nil, padded)
}

// against returns the sum over i of series[i] * other[i+s], for each shift s.
func (r *ring) against(other []float64) []float64 {
	product := r.transform(other)
	for i, c := range r.spectrum {
		product[i] *= complex(real(c), -imag(c))
	}
	linear := r.fft.Sequence(nil, product)
	sums := make([]float64, r.n)
	for s := range sums {
		sums[s] = linear[s]
		if s > 0 {
			sums[s] += linear[r.size-r.n+s]
		}
		sums[s] /= float64(r.size)
	}
	return sums
}
