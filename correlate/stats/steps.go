package stats

import (
	"cmp"
	"slices"
)

// Step is the time that each request spent in one named step, ns; below 0 for
// a request without it.
type Step struct {
	Name string
	Ns   []int64
}

// StepRow compares a step of the tail with the same step of all requests.
type StepRow struct {
	Name       string  `json:"name"`
	AllMedian  int64   `json:"all_median_ns"`
	TailMedian int64   `json:"tail_median_ns"`
	Ratio      float64 `json:"ratio"` // tail median over all; 0 without one
	// ShuffledRatio is what the choice of the slowest alone would give: the
	// ratio after each step's times were shuffled among the requests, with the
	// slowest of the sums as the tail. Only what exceeds it says that steps
	// are slow together.
	ShuffledRatio float64 `json:"shuffled_ratio"`
	// Furthest counts the tail requests in which this step is furthest over
	// its median, in ns. The longest step wins that count most easily.
	Furthest int `json:"furthest"`
}

// Steps compares steps by tail flags. The shuffling is seeded by the data.
func Steps(tail []bool, steps []Step) []StepRow {
	members := indicesOf(tail)
	shuffled := shuffle(steps)
	slowest := slowestOf(shuffled, len(members))
	table := make([]StepRow, len(steps))
	for i, step := range steps {
		row := StepRow{
			Name:       step.Name,
			AllMedian:  medianOf(step.Ns, nil),
			TailMedian: medianOf(step.Ns, members),
		}
		if row.AllMedian > 0 {
			row.Ratio = float64(row.TailMedian) / float64(row.AllMedian)
			row.ShuffledRatio = float64(medianOf(shuffled[i], slowest)) / float64(row.AllMedian)
		}
		table[i] = row
	}
	for _, request := range members {
		furthest, over := -1, int64(0)
		for i, step := range steps {
			if ns := step.Ns[request] - table[i].AllMedian; step.Ns[request] >= 0 && ns > over {
				furthest, over = i, ns
			}
		}
		if furthest >= 0 {
			table[furthest].Furthest++
		}
	}
	return table
}

// medianOf is the nearest-rank median of the requests at indices that have the
// step, of all with nil.
func medianOf(ns []int64, indices []int) int64 {
	var have []int64
	if indices == nil {
		have = slices.Clone(ns)
	}
	for _, i := range indices {
		have = append(have, ns[i])
	}
	have = slices.DeleteFunc(have, func(v int64) bool { return v < 0 })
	slices.Sort(have)
	return NearestRank(have, .5)
}

// shuffle permutes each step's times on their own, which keeps every step's
// distribution and breaks all ties between the steps of a request.
func shuffle(steps []Step) [][]int64 {
	out := make([][]int64, len(steps))
	for i, step := range steps {
		out[i] = slices.Clone(step.Ns)
		seeded("shuffle "+step.Name, step.Ns).Shuffle(len(out[i]), func(a, b int) {
			out[i][a], out[i][b] = out[i][b], out[i][a]
		})
	}
	return out
}

// slowestOf are the indices of the m largest sums.
func slowestOf(steps [][]int64, m int) []int {
	if len(steps) == 0 {
		return []int{}
	}
	sums := make([]int64, len(steps[0]))
	order := make([]int, len(sums))
	for i := range sums {
		order[i] = i
		for _, ns := range steps {
			sums[i] += max(ns[i], 0)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	return order[:m]
}
