// Package stats computes what may be said of a service's latencies and its
// tail from raw rows: every number by a rule that anybody can recompute, with
// how far it can be trusted beside it. All times are nanoseconds.
package stats

import (
	"math"
	"slices"
)

// A Quantile is a point of the distribution that is reported, and its name.
type Quantile struct {
	Name string
	Q    float64
}

// Quantiles are always reported together, and Max with them.
var Quantiles = []Quantile{{"p50", .5}, {"p90", .9}, {"p99", .99}, {"p99.9", .999}}

// Max is the name under which the largest value is reported.
const Max = "max"

// Rank is the 1-based nearest rank of q among n values: ceil(q n), guarded
// against products that rounding has lifted over a whole number.
func Rank(n int, q float64) int {
	return min(max(int(math.Ceil(q*float64(n)-1e-9)), 1), n)
}

// NearestRank is the smallest value that at least q of the values do not
// exceed. It is one of the values, never between two; 0 for none.
func NearestRank(sorted []int64, q float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[Rank(len(sorted), q)-1]
}

// Percentiles of N values, ns.
type Percentiles struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99.9"`
	Max  int64 `json:"max"`
	N    int   `json:"-"`
}

// PercentilesOf sorts a copy of values.
func PercentilesOf(values []int64) Percentiles {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return percentilesOfSorted(sorted)
}

func percentilesOfSorted(sorted []int64) Percentiles {
	return Percentiles{
		P50:  NearestRank(sorted, .5),
		P90:  NearestRank(sorted, .9),
		P99:  NearestRank(sorted, .99),
		P999: NearestRank(sorted, .999),
		Max:  NearestRank(sorted, 1),
		N:    len(sorted),
	}
}

// Get returns the percentile of that name, as in Quantiles and Max.
func (p Percentiles) Get(name string) int64 {
	switch name {
	case "p50":
		return p.P50
	case "p90":
		return p.P90
	case "p99":
		return p.P99
	case "p99.9":
		return p.P999
	}
	return p.Max
}

const (
	// LabelMax says that the percentile is nothing but the largest value.
	LabelMax = "= max"
	// LabelUnstable says that fewer than a hundred values lie beyond the
	// percentile, so that it moves with each of them.
	LabelUnstable = "unstable"
)

// Labels gives each percentile of n values the labels it must be shown with.
func Labels(n int) map[string][]string {
	labels := map[string][]string{}
	for _, quantile := range Quantiles {
		labels[quantile.Name] = labelsOf(n, quantile.Q)
	}
	return labels
}

func labelsOf(n int, q float64) []string {
	labels := []string{}
	if n > 0 && Rank(n, q) == n {
		labels = append(labels, LabelMax)
	}
	if float64(n)*(1-q) < 100-1e-9 {
		labels = append(labels, LabelUnstable)
	}
	return labels
}
