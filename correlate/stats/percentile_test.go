package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// upTo is 1..n, whose k-th smallest value is k.
func upTo(n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i + 1)
	}
	return values
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func TestNearestRank(t *testing.T) {
	for n, want := range map[int]int64{1: 1, 10: 10, 94: 94, 99: 99, 100: 99, 101: 100, 1000: 990, 100_000: 99_000} {
		if got := PercentilesOf(upTo(n)).P99; got != want {
			t.Errorf("p99 of 1..%d = %d, want %d", n, got, want)
		}
	}
	outlier := append(slices.Repeat([]int64{1}, 1000), 10_000_000)
	if got := PercentilesOf(outlier); got != (Percentiles{1, 1, 1, 1, 10_000_000, 1001}) {
		t.Errorf("one outlier in 1001: %+v", got)
	}
	if got := PercentilesOf(nil); got != (Percentiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestRankIsExactAtEveryWholeProduct(t *testing.T) {
	for _, permille := range []int{500, 900, 990, 999} {
		for n := 1; n <= 20_000; n++ {
			want := (n*permille + 999) / 1000
			if got := Rank(n, float64(permille)/1000); got != want {
				t.Fatalf("Rank(%d, .%d) = %d, want %d", n, permille, got, want)
			}
		}
	}
}

func TestPercentilesAreOrderedAndAmongTheValues(t *testing.T) {
	for n := 1; n < 300; n++ {
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(i*7919%n) * 3
		}
		p := PercentilesOf(values)
		all := []int64{p.P50, p.P90, p.P99, p.P999, p.Max}
		if !slices.IsSorted(all) {
			t.Fatalf("n = %d: %v is not ascending", n, all)
		}
		for _, v := range all {
			if !slices.Contains(values, v) {
				t.Fatalf("n = %d: %d is not one of the values", n, v)
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for n, want := range map[int]map[string][]string{
		10:      {"p50": {LabelUnstable}, "p90": {LabelUnstable}, "p99": {LabelMax, LabelUnstable}, "p99.9": {LabelMax, LabelUnstable}},
		99:      {"p50": {LabelUnstable}, "p90": {LabelUnstable}, "p99": {LabelMax, LabelUnstable}, "p99.9": {LabelMax, LabelUnstable}},
		100:     {"p50": {LabelUnstable}, "p90": {LabelUnstable}, "p99": {LabelUnstable}, "p99.9": {LabelMax, LabelUnstable}},
		9_999:   {"p50": {}, "p90": {}, "p99": {LabelUnstable}, "p99.9": {LabelUnstable}},
		10_000:  {"p50": {}, "p90": {}, "p99": {}, "p99.9": {LabelUnstable}},
		100_000: {"p50": {}, "p90": {}, "p99": {}, "p99.9": {}},
	} {
		if diff := cmp.Diff(want, Labels(n)); diff != "" {
			t.Errorf("n = %d: %s", n, diff)
		}
	}
}

func TestOrderStatisticIntervals(t *testing.T) {
	for _, tc := range []struct {
		n         int
		q         float64
		low, high int
		coverage  float64 // 0: not checked
	}{
		{100, .99, 97, 101, 0},
		{299, .99, 292, 300, 0},
		{367, .99, 359, 368, 0},
		{368, .99, 360, 368, .9624},
		{1000, .99, 983, 997, .9761},
		{10_000, .99, 9880, 9920, .9558},
		{100_000, .99, 98938, 99062, .9512},
		{10, .5, 2, 9, .978516},
		{5, .5, 0, 6, 1},
		{1, .99, 1, 2, .99},
	} {
		got := IntervalOf(tc.n, tc.q)
		if got.Low != tc.low || got.High != tc.high {
			t.Errorf("n = %d, q = %g: x%d..x%d, want x%d..x%d", tc.n, tc.q, got.Low, got.High, tc.low, tc.high)
		}
		if tc.coverage != 0 {
			near(t, "coverage", got.Coverage, tc.coverage, 5e-5)
		}
	}
	sorted := upTo(100)
	b := IntervalOf(100, .99).Of(sorted)
	if b[0] == nil || *b[0] != 97 || b[1] != nil {
		t.Errorf("bounds of n = 100: %v", b)
	}
}

// The largest of n values bounds q from above as soon as q^n <= 5%.
func TestMaximumCoversFrom(t *testing.T) {
	for q, want := range map[float64]int{.99: 299, .999: 2995} {
		n := 1
		for 1-(1-binomialCDF(n, q, n-1)) < .95 {
			n++
		}
		if n != want {
			t.Errorf("the maximum covers %g from n = %d, want %d", q, n, want)
		}
	}
}

func TestRangeCoverage(t *testing.T) {
	for runs, want := range map[int]float64{0: 0, 1: 0, 3: .75, 5: .9375, 6: .96875} {
		if got := RangeCoverage(runs); got != want {
			t.Errorf("%d runs: %g, want %g", runs, got, want)
		}
	}
}
