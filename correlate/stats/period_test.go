package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func onsetsAt(seconds ...float64) (onsets []onset) {
	for _, s := range seconds {
		onsets = append(onsets, onset{at: int64(s * 1e9)})
	}
	return onsets
}

func TestPeriodIsFoundDespiteJitterAndGaps(t *testing.T) {
	for _, tc := range []struct {
		period, jitter, missing, span float64
	}{
		{1, 0, 0, 100}, {10, .1, 0, 100}, {5, .2, .3, 120}, {.1, .002, .2, 100}, {.5, .02, .5, 60}, {20, 0, 0, 100}, {1.37, .03, .2, 300},
	} {
		rng := rand.New(rand.NewPCG(1, uint64(tc.period*1000)))
		var at []float64
		for s := tc.period * .37; s < tc.span; s += tc.period {
			if rng.Float64() >= tc.missing {
				at = append(at, s+rng.NormFloat64()*tc.jitter)
			}
		}
		got := periodOf(onsetsAt(at...), int64(tc.span*1e9), rng)
		if got == nil || math.Abs(got.Seconds-tc.period) > .02*tc.period || got.P > .01 {
			t.Errorf("%+v with %d onsets: got %+v", tc, len(at), got)
		}
	}
}

func TestRandomTimesHaveNoPeriod(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{4, 10, 50, 800} {
		found := 0
		const trials = 60
		for range trials {
			var at []float64
			for range n {
				at = append(at, rng.Float64()*100)
			}
			if periodOf(onsetsAt(at...), 100e9, rng) != nil {
				found++
			}
		}
		if found > 4 {
			t.Errorf("%d onsets at random: a period in %d of %d runs, want about 1%%", n, found, trials)
		}
	}
	if periodOf(onsetsAt(1, 2, 3), 4e9, rng) != nil || periodOf(onsetsAt(1, 1, 1, 1), 0, rng) != nil {
		t.Error("a period of next to nothing")
	}
}

// Long bursts keep each other apart, which must not pass for a rhythm.
func TestLongBurstsAtRandomHaveNoPeriod(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 40 {
		onsets := make([]onset, 12)
		for i := range onsets {
			onsets[i].lasted = 4e9
		}
		for i, at := range place(rng, onsets, 100e9, .52) {
			onsets[i].at = int64(at * 100e9)
		}
		if periodOf(onsets, 100e9, rng) != nil {
			found++
		}
	}
	if found > 3 {
		t.Errorf("a period in %d of 40 runs", found)
	}
}

func TestOnsetsAreOfBurstsOrOfStretches(t *testing.T) {
	tail := make([]bool, 1000)
	elapsed := make([]int64, 1000)
	for i := range elapsed {
		elapsed[i] = int64(i) * 100
	}
	for _, i := range []int{5, 6, 15, 40, 200, 205} {
		tail[i] = true
	}
	got := onsetsOf(tail, elapsed, nil)
	want := []onset{{500, 1000}, {4000, 0}, {20000, 500}}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkPeriod(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 3))
	onsets := make([]onset, 900)
	for i := range onsets {
		onsets[i].at = int64(i) * 1e8
	}
	for b.Loop() {
		periodOf(onsets, 90e9, rng)
	}
}
