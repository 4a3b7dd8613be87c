package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of every interval, split evenly between its two sides.
const Confidence = .95

// An OrderInterval names two order statistics of n values, 1-based, between
// which the true quantile lies. Low 0 and High n+1 stand for no bound: n is
// too small for one.
type OrderInterval struct {
	Low, High int
	Coverage  float64 // exact, for independent values; at least Confidence
}

// IntervalOf gives the exact interval for quantile q of n independent values.
// The number of values below the quantile is binomial, so that x(l)..x(u)
// holds it with P(l <= B <= u-1).
func IntervalOf(n int, q float64) OrderInterval {
	if n < 1 {
		return OrderInterval{High: n + 1}
	}
	const side = (1 - Confidence) / 2
	cdf := func(k int) float64 { return binomialCDF(n, q, k) }
	low := sort.Search(n, func(l int) bool { return cdf(l) > side })
	high := 1 + sort.Search(n, func(u int) bool { return 1-cdf(u) <= side })
	return OrderInterval{Low: low, High: high, Coverage: cdf(high-1) - cdf(low-1)}
}

// binomialCDF is P(B <= k) for n trials.
func binomialCDF(n int, q float64, k int) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return distuv.Binomial{N: float64(n), P: q}.CDF(float64(k))
}

// Bounds are the ends of an interval, ns; nil where there is none. In JSON
// they are an array of two.
type Bounds [2]*int64

// Of picks the bounds out of sorted values.
func (o OrderInterval) Of(sorted []int64) (b Bounds) {
	if o.Low >= 1 && o.Low <= len(sorted) {
		b[0] = &sorted[o.Low-1]
	}
	if o.High >= 1 && o.High <= len(sorted) {
		b[1] = &sorted[o.High-1]
	}
	return b
}

// RangeCoverage is how often the range of so many repeats holds the median of
// all runs that could be made: 1 - 2^(1-runs).
func RangeCoverage(runs int) float64 {
	if runs < 1 {
		return 0
	}
	return 1 - math.Pow(2, float64(1-runs))
}
