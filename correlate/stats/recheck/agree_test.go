package recheck

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

func TestIntervalRanksAgree(t *testing.T) {
	for _, n := range []int{1, 2, 10, 94, 100, 299, 367, 368, 1000, 2995, 10_000, 100_000} {
		for _, q := range stats.Quantiles {
			want := stats.IntervalOf(n, q.Q)
			if low, high := intervalRanks(n, q.Q); low != want.Low || high != want.High {
				t.Errorf("n = %d, %s: x%d..x%d, stats has x%d..x%d", n, q.Name, low, high, want.Low, want.High)
			}
		}
	}
}

func TestTailsAgreeOnTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 250 {
		set := make([]rows.Row, n)
		latencies := make([]int64, n)
		for i := range set {
			latencies[i] = int64(rng.IntN(5))
			set[i].Recv = latencies[i]
		}
		for _, fraction := range []float64{.01, .1, .29} {
			want := stats.TailOf(set, fraction)
			got, threshold := Tail(latencies, fraction)
			if diff := cmp.Diff(want.Member, got); diff != "" || threshold != want.Threshold {
				t.Fatalf("n = %d, fraction %g: threshold %d, stats has %d; %s", n, fraction, threshold, want.Threshold, diff)
			}
		}
	}
}

func TestShiftPAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		tail, has := make([]bool, n), make([]bool, n)
		for i := range n {
			tail[i], has[i] = rng.IntN(20) == 0, rng.IntN(4) == 0
		}
		if got, want := ShiftP(tail, has), stats.NewShiftTest(tail).P(has); got != want {
			t.Errorf("n = %d: %g, stats has %g", n, got, want)
		}
	}
}
