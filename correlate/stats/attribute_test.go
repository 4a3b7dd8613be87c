package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestFisher(t *testing.T) {
	for _, tc := range []struct {
		table             Table
		greater, twoSided float64
	}{
		{Table{3, 1, 1, 3}, .242857142857143, .485714285714286},
		{Table{1, 9, 11, 3}, .999966, .00275945618522},
		{Table{0, 0, 0, 0}, 1, 1},
		{Table{10, 0, 0, 10}, 5.412544e-6, 1.0825088e-5},
	} {
		greater, twoSided := tc.table.Fisher()
		near(t, "greater", greater, tc.greater, 1e-6)
		near(t, "two-sided", twoSided, tc.twoSided, 1e-9)
	}
}

func TestOddsRatio(t *testing.T) {
	odds := Table{530, 4470, 5470, 489530}.OddsRatio()
	near(t, "ratio", odds.Ratio, 10.61, .005)
	near(t, "low", odds.Low, 9.66, .005)
	near(t, "high", odds.High, 11.66, .005)
	if odds := (Table{0, 10, 5, 100}).OddsRatio(); odds != nil {
		t.Errorf("an empty cell: %+v", odds)
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	p := []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	adjusted := Adjust(p)
	want := []float64{.0015, .003, .0095, .035625, .0603}
	if diff := cmp.Diff(want, adjusted[:5], cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	rejected := 0
	for _, a := range adjusted {
		if a <= .05 {
			rejected++
		}
	}
	if rejected != 4 {
		t.Errorf("rejects %d, want 4", rejected)
	}
	if diff := cmp.Diff([]float64{.03, .03, .015}, Adjust([]float64{.03, .02, .005}), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
}

// bursty is a two-state series of flags: share of them set, in bursts of a
// mean length.
func bursty(rng *rand.Rand, n int, share, length float64) []bool {
	flags := make([]bool, n)
	leave := 1 / length
	enter := leave * share / (1 - share)
	in := rng.Float64() < share
	for i := range flags {
		flags[i] = in
		if in {
			in = rng.Float64() >= leave
		} else {
			in = rng.Float64() < enter
		}
	}
	return flags
}

func TestOverlapsSumToTheProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 10, 97, 1000, 4096} {
		for _, share := range []float64{.01, .5, .99} {
			tail, has := bursty(rng, n, .2, 4), bursty(rng, n, share, 4)
			test := NewShiftTest(tail)
			sparse, sum := test.Overlaps(has), 0
			for _, overlap := range sparse {
				sum += overlap
			}
			if want := len(indicesOf(tail)) * len(indicesOf(has)); sum != want {
				t.Errorf("n = %d: overlaps sum to %d, want %d", n, sum, want)
			}
			if diff := cmp.Diff(naiveOverlaps(tail, has), sparse); diff != "" {
				t.Fatalf("n = %d: %s", n, diff)
			}
			if diff := cmp.Diff(sparse, test.convolve(indicesOf(has))); diff != "" {
				t.Fatalf("n = %d, by transform: %s", n, diff)
			}
		}
	}
}

func naiveOverlaps(tail, has []bool) []int {
	overlaps := make([]int, len(tail))
	for s := range overlaps {
		for i := range tail {
			if tail[i] && has[(i+s)%len(has)] {
				overlaps[s]++
			}
		}
	}
	return overlaps
}

// On attributes that have nothing to do with the tail, but come in bursts as
// it does, five in a hundred may be significant at .05. Fisher's test finds
// several times as many.
func TestShiftTestHoldsItsLevelOnBursts(t *testing.T) {
	const trials, n = 1500, 4000
	rng := rand.New(rand.NewPCG(3, 4))
	byShift, byFisher := 0, 0
	for range trials {
		tail, has := bursty(rng, n, .01, 20), bursty(rng, n, .1, 20)
		if NewShiftTest(tail).P(has) <= .05 {
			byShift++
		}
		if greater, _ := TableOf(tail, has).Fisher(); greater <= .05 {
			byFisher++
		}
	}
	if byShift > trials*7/100 {
		t.Errorf("circular shift: %d of %d significant, want about 5%%", byShift, trials)
	}
	if byFisher < 2*byShift {
		t.Errorf("Fisher: %d of %d significant, circular shift %d: the data has no bursts", byFisher, trials, byShift)
	}
}

func TestAttributesFindWhatIsThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 100_000
	tail, cause, other := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range n {
		cause[i] = rng.Float64() < .02
		other[i] = rng.Float64() < .3
		tail[i] = rng.Float64() < .005 || cause[i] && rng.Float64() < .25
	}
	table := Attributes(tail, []Flag{{"cause", cause}, {"other", other}, {"never", make([]bool, n)}})
	if a := table[0]; a.Ratio < 20 || a.P > .001 || a.P < a.PShift {
		t.Errorf("cause: %+v", a)
	}
	if a := table[1]; a.P < .01 || a.Ratio < .8 || a.Ratio > 1.2 {
		t.Errorf("other: %+v", a)
	}
	if a := table[2]; a != (Attribute{Name: "never", P: 1, PShift: 1, PFisher: 1}) {
		t.Errorf("never: %+v", a)
	}
}

func BenchmarkAttributes(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	tail := bursty(rng, 100_000, .01, 5)
	flags := []Flag{{"a", bursty(rng, 100_000, .1, 5)}, {"b", bursty(rng, 100_000, .5, 5)}}
	for b.Loop() {
		Attributes(tail, flags)
	}
}
