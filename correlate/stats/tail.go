package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// TailFraction is the share of each run's requests that is its tail, unless
// the user says otherwise.
const TailFraction = .01

// TailCount is how many of n requests are the tail: ceil(fraction n).
func TailCount(n int, fraction float64) int {
	return min(max(int(math.Ceil(fraction*float64(n)-1e-9)), 0), n)
}

// Tail is the slowest part of each run. Warm-up rows are in no tail.
type Tail struct {
	Fraction  float64
	Member    []bool // parallel to the rows it was taken from
	Indices   []int  // of the members, ascending
	N         int    // rows it was taken from, warm-up not counted
	Threshold int64  // the smallest latency in any run's tail, ns
	Runs      []RunTail
}

// RunTail is one run's part of a Tail.
type RunTail struct {
	Run       string
	First     int // index of the run's first row
	N         int // without warm-up
	Count     int
	Threshold int64 // the smallest latency in this run's tail, ns
}

// TailOf takes the slowest ceil(fraction n) rows of each run. Of rows with
// equal latency the earlier one is taken first, so that everybody gets the
// same tail. A run's rows must stand together, as in a rows.Set.
func TailOf(set []rows.Row, fraction float64) *Tail {
	t := &Tail{Fraction: fraction, Member: make([]bool, len(set))}
	for first := 0; first < len(set); {
		end := first
		var slow []slowRow
		for ; end < len(set) && set[end].Run == set[first].Run; end++ {
			if !set[end].Warmup {
				slow = append(slow, slowRow{set[end].Latency(), end})
			}
		}
		t.take(RunTail{Run: set[first].Run, First: first, N: len(slow)}, slow)
		first = end
	}
	slices.Sort(t.Indices)
	return t
}

type slowRow struct {
	latency int64
	index   int
}

func (t *Tail) take(run RunTail, slow []slowRow) {
	slices.SortFunc(slow, func(a, b slowRow) int {
		return cmp.Or(cmp.Compare(b.latency, a.latency), cmp.Compare(a.index, b.index))
	})
	run.Count = TailCount(run.N, t.Fraction)
	for _, s := range slow[:run.Count] {
		t.Member[s.index] = true
		t.Indices = append(t.Indices, s.index)
		run.Threshold = s.latency
	}
	if run.Count > 0 && (len(t.Runs) == 0 || t.N == 0 || run.Threshold < t.Threshold) {
		t.Threshold = run.Threshold
	}
	t.N += run.N
	t.Runs = append(t.Runs, run)
}
