package stats

import "math"

// MaxPage is the largest page of calls that is looked at.
const MaxPage = 100

// Page is how often a page of K calls meets the tail at least once: for calls
// made one after the other, for calls picked at random from the same runs, and
// by the formula 1-(1-f)^K that takes calls as independent. A tail in bursts
// hits fewer pages, but those several times.
type Page struct {
	K        int     `json:"k"`
	InARow   float64 `json:"in_a_row"`
	AtRandom float64 `json:"at_random"`
	Formula  float64 `json:"formula"`
}

// Pages for K from 1 to MaxPage, as far as a run is long enough. Each slice is
// one run in the order of sending; every K neighbours of a run are a page.
func Pages(runs ...[]bool) []Page {
	longest, n, m := 0, 0, 0
	var clear []int // lengths of the stretches without a tail request
	for _, tail := range runs {
		longest = max(longest, len(tail))
		n += len(tail)
		stretch := 0
		for _, in := range tail {
			if !in {
				stretch++
				continue
			}
			m++
			clear = append(clear, stretch)
			stretch = 0
		}
		clear = append(clear, stretch)
	}
	var pages []Page
	missRandom := 1.0 // chance that K random calls, none twice, all miss the tail
	for k := 1; k <= min(MaxPage, longest); k++ {
		missRandom *= max(0, float64(n-m-k+1)) / float64(n-k+1)
		pages = append(pages, Page{
			K:        k,
			InARow:   1 - missInARow(k, runs, clear),
			AtRandom: 1 - missRandom,
			Formula:  1 - math.Pow(1-float64(m)/float64(n), float64(k)),
		})
	}
	return pages
}

// missInARow is the share of pages of k neighbours that lie inside a stretch
// without a tail request.
func missInARow(k int, runs [][]bool, clear []int) float64 {
	pages, missed := 0, 0
	for _, tail := range runs {
		pages += max(0, len(tail)-k+1)
	}
	for _, stretch := range clear {
		missed += max(0, stretch-k+1)
	}
	return share(missed, pages)
}
