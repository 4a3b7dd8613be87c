package stats

import (
	"cmp"
	"math"
	"slices"
)

// Load tells whether requests are slower when there are more of them. Both
// figures are rank correlations (Spearman's rho), each with the chance of so
// high a one if the two series had nothing to do with each other, over all
// circular shifts. 0 and 1 where there is nothing to compare.
type Load struct {
	RateRho     float64 `json:"rate_rho"` // arrivals in a slice of time with the share of them in the tail
	RateP       float64 `json:"rate_p"`
	InFlightRho float64 `json:"in_flight_rho"` // open requests at a request's send with its latency
	InFlightP   float64 `json:"in_flight_p"`
}

// Growing reports whether latency grows with the load.
func (l Load) Growing() bool {
	const rho, p = .3, .02
	return l.RateRho >= rho && l.RateP <= p || l.InFlightRho >= rho && l.InFlightP <= p
}

// loadSlices is the number of slices of a run whose arrival rates are compared.
const loadSlices = 100

// loadOf compares one run's latencies with its load. All slices are parallel
// and in the order of sending; times are ns.
func loadOf(elapsed, latency, inFlight []int64, tail []bool) (l Load) {
	l.RateRho, l.RateP = rankCorrelation(ratesOf(elapsed, tail))
	l.InFlightRho, l.InFlightP = rankCorrelation(floats(inFlight), floats(latency))
	return l
}

func floats(values []int64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// ratesOf counts, for slices of one length, arrivals and the share of them in
// the tail. Slices without an arrival have no share and are left out.
func ratesOf(elapsed []int64, tail []bool) (arrivals, tailShare []float64) {
	if len(elapsed) == 0 {
		return nil, nil
	}
	width := slices.Max(elapsed)/loadSlices + 1
	counts, slow := make([]float64, loadSlices), make([]float64, loadSlices)
	for i, at := range elapsed {
		s := max(at, 0) / width
		counts[s]++
		if tail[i] {
			slow[s]++
		}
	}
	for s, n := range counts {
		if n > 0 {
			arrivals = append(arrivals, n)
			tailShare = append(tailShare, slow[s]/n)
		}
	}
	return arrivals, tailShare
}

// inFlightOf counts, at each send, the requests sent before that had no answer
// yet. Sends must ascend.
func inFlightOf(send, recv []int64) []int64 {
	answers := slices.Clone(recv)
	slices.Sort(answers)
	open := make([]int64, len(send))
	answered := 0
	for i, at := range send {
		for answered < i && answers[answered] <= at {
			answered++
		}
		open[i] = int64(i - answered)
	}
	return open
}

// rankCorrelation is Spearman's rho with its one-sided circular-shift p.
func rankCorrelation(a, b []float64) (rho, p float64) {
	x, y := standardRanks(a), standardRanks(b)
	if x == nil || y == nil {
		return 0, 1
	}
	sums := newRing(x).against(y)
	atLeast := 0
	for _, sum := range sums {
		if sum >= sums[0]-1e-9 {
			atLeast++
		}
	}
	return sums[0], float64(atLeast) / float64(len(sums))
}

// standardRanks are average ranks, centred and scaled to a sum of squares of
// one; nil where all values are equal.
func standardRanks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks := make([]float64, len(values))
	middle := float64(len(values)-1) / 2
	square := 0.0
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		rank := float64(from+to-1)/2 - middle
		square += rank * rank * float64(to-from)
		for ; from < to; from++ {
			ranks[order[from]] = rank
		}
	}
	if square == 0 {
		return nil
	}
	for i := range ranks {
		ranks[i] /= math.Sqrt(square)
	}
	return ranks
}
