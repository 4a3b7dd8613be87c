package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// scattered is n flags of which m are set, at random.
func scattered(rng *rand.Rand, n, m int) []bool {
	flags := make([]bool, n)
	for _, i := range rng.Perm(n)[:m] {
		flags[i] = true
	}
	return flags
}

func TestPagesOfAScatteredTailFollowTheFormula(t *testing.T) {
	pages := Pages(scattered(rand.New(rand.NewPCG(1, 3)), 100_000, 1000))
	if len(pages) != MaxPage {
		t.Fatalf("%d pages", len(pages))
	}
	near(t, "formula for 10", pages[9].Formula, .0956179, 5e-8)
	near(t, "formula for 100", pages[99].Formula, .6339677, 5e-8)
	near(t, "at random for 10", pages[9].AtRandom, .0956224, 1e-6)
	near(t, "in a row for 10", pages[9].InARow, pages[9].Formula, .002)
	near(t, "in a row for 1", pages[0].InARow, .01, 1e-12)
}

func TestPagesInARowMatchCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	runs := [][]bool{bursty(rng, 300, .1, 5), bursty(rng, 41, .1, 5), bursty(rng, 0, .1, 5)}
	pages := Pages(runs...)
	for _, page := range pages {
		hit, all := 0, 0
		for _, tail := range runs {
			for i := 0; i+page.K <= len(tail); i++ {
				all++
				for _, in := range tail[i : i+page.K] {
					if in {
						hit++
						break
					}
				}
			}
		}
		near(t, "in a row", page.InARow, float64(hit)/float64(all), 1e-12)
	}
}

func TestAtRandomIsHypergeometric(t *testing.T) {
	pages := Pages([]bool{true, false, false, false, true})
	want := []float64{2. / 5, 7. / 10, 9. / 10, 1, 1}
	for i, page := range pages {
		near(t, "at random", page.AtRandom, want[i], 1e-12)
		if math.IsNaN(page.InARow) || math.IsNaN(page.Formula) {
			t.Errorf("%+v", page)
		}
	}
	if len(Pages()) != 0 || len(Pages(nil, []bool{})) != 0 {
		t.Error("pages of nothing")
	}
}
