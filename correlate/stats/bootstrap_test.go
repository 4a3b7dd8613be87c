package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestExactBootstrap(t *testing.T) {
	for _, tc := range []struct{ n, low, high int }{{94, 91, 94}, {1000, 982, 995}} {
		got := BootstrapInterval(tc.n, .99)
		if got.Low != tc.low || got.High != tc.high {
			t.Errorf("n = %d: x%d..x%d, want x%d..x%d", tc.n, got.Low, got.High, tc.low, tc.high)
		}
	}
	near(t, "P(value = max) of 94", 1-bootstrapCDF(94, .99, 93), .6341, 5e-5)
}

// The resampler's shortcuts must give what sorting each resample gives.
func TestResamplerMatchesSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 7, 500} {
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(rng.IntN(200)) + int64(i/50%2)*1000
		}
		for _, q := range []float64{.5, .9, .99} {
			for _, block := range []int{1, 3, 60, n} {
				block = min(block, n)
				r := newResampler(values, q)
				r.narrow = r.window(max(0, r.rank-5), min(n, r.rank+5)) // so that resamples leave it
				got := r.draw(rand.New(rand.NewPCG(9, 9)), block, 50)
				again := rand.New(rand.NewPCG(9, 9))
				for i := range got {
					var sample []int64
					for range (n + block - 1) / block {
						start := again.IntN(n)
						for j := range block {
							sample = append(sample, values[(start+j)%n])
						}
					}
					sample = sample[:n]
					slices.Sort(sample)
					if want := NearestRank(sample, q); got[i] != want {
						t.Fatalf("n = %d, q = %g, block %d: resample %d gives %d, want %d", n, q, block, i, got[i], want)
					}
				}
			}
		}
	}
}

func TestBlockBootstrapIsTheSameForTheSameData(t *testing.T) {
	values := upTo(3000)
	a, b := BlockBootstrap(values, .99, 50), BlockBootstrap(values, .99, 50)
	if *a[0] != *b[0] || *a[1] != *b[1] {
		t.Errorf("%d..%d, then %d..%d", *a[0], *a[1], *b[0], *b[1])
	}
}

// On rows in bursts (enter .0005, leave .05) intervals that claim 95% but take
// rows as independent cover about a quarter, a block bootstrap about 78%.
func TestCoverageOnRowsInBursts(t *testing.T) {
	const n, trials = 10_000, 300
	rng := rand.New(rand.NewPCG(11, 12))
	// p99 of the mixture: .0005/.0505 of the rows are 10..11, the rest 0..1.
	const scale = 1e6
	burstShare := .0005 / .0505
	truth := int64(scale * (1 - (.01-burstShare)/(1-burstShare)))
	covers := func(b Bounds) bool {
		return b[0] != nil && *b[0] <= truth && (b[1] == nil || truth <= *b[1])
	}
	binomial, independent, blocks := 0, 0, 0
	for range trials {
		values := make([]int64, n)
		in := rng.Float64() < burstShare
		for i := range values {
			values[i] = int64(rng.Float64() * scale)
			if in {
				values[i] += 10 * scale
				in = rng.Float64() >= .05
			} else {
				in = rng.Float64() < .0005
			}
		}
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		for _, c := range []struct {
			count  *int
			bounds Bounds
		}{
			{&binomial, IntervalOf(n, .99).Of(sorted)},
			{&independent, BootstrapInterval(n, .99).Of(sorted)},
			{&blocks, BlockBootstrap(values, .99, BlockLength(n))},
		} {
			if covers(c.bounds) {
				*c.count++
			}
		}
	}
	for _, c := range []struct {
		what            string
		count           int
		atLeast, atMost float64
	}{{"binomial", binomial, .15, .32}, {"independent bootstrap", independent, .15, .32}, {"block bootstrap", blocks, .70, .86}} {
		if got := float64(c.count) / trials; got < c.atLeast || got > c.atMost {
			t.Errorf("%s covers %.0f%%, want %.0f%% to %.0f%%", c.what, 100*got, 100*c.atLeast, 100*c.atMost)
		}
	}
}

func BenchmarkBlockBootstrap(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, 100_000)
	for i := range values {
		values[i] = int64(rng.ExpFloat64() * 1e6)
	}
	for b.Loop() {
		for _, quantile := range Quantiles {
			BlockBootstrap(values, quantile.Q, BlockLength(len(values)))
		}
	}
}
