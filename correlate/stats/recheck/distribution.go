package recheck

import (
	"math"
	"math/big"
	"strconv"
)

// permilles are the reported percentiles in whole thousandths.
var permilles = []struct {
	name     string
	permille int
}{{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}}

// atRank is the smallest value that at least rank of the values do not exceed,
// found by halving the range of values and counting.
func atRank(values []int64, rank int) int64 {
	if len(values) == 0 {
		return 0
	}
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	for low < high {
		middle := low + (high-low)/2
		count := 0
		for _, v := range values {
			if v <= middle {
				count++
			}
		}
		if count >= rank {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// nearestRank is ceil(permille n / 1000).
func nearestRank(n, permille int) int { return (n*permille + 999) / 1000 }

// Percentiles by nearest rank, by name.
func Percentiles(values []int64) map[string]int64 {
	out := map[string]int64{}
	for _, p := range permilles {
		out[p.name] = atRank(values, nearestRank(len(values), p.permille))
	}
	return out
}

// labels that the percentiles of n values must carry.
func labels(n int) map[string][]string {
	out := map[string][]string{}
	for _, p := range permilles[:len(permilles)-1] {
		list := []string{}
		if n > 0 && nearestRank(n, p.permille) == n {
			list = append(list, "= max")
		}
		if n*(1000-p.permille) < 100*1000 {
			list = append(list, "unstable")
		}
		out[p.name] = list
	}
	return out
}

// intervals are the exact 95% order-statistic intervals, nil where unbounded.
func intervals(values []int64) map[string][2]*int64 {
	out := map[string][2]*int64{}
	for _, p := range permilles[:len(permilles)-1] {
		low, high := intervalRanks(len(values), float64(p.permille)/1000)
		var ends [2]*int64
		for i, rank := range []int{low, high} {
			if rank >= 1 && rank <= len(values) {
				v := atRank(values, rank)
				ends[i] = &v
			}
		}
		out[p.name] = ends
	}
	return out
}

// intervalRanks adds up binomial terms from either end until 2.5% is passed.
func intervalRanks(n int, q float64) (low, high int) {
	term := func(k int) float64 {
		return math.Exp(logChoose(n, k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
	}
	for sum := term(0); sum <= .025 && low < n; sum += term(low) {
		low++
	}
	high = n + 1
	for sum := term(n); sum <= .025 && high > 1; sum += term(high - 1) {
		high--
	}
	return low, high
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Tail flags the slowest ceil(fraction n) of one run, of equal ones the first,
// and returns the smallest latency among them.
func Tail(latencies []int64, fraction float64) (flags []bool, threshold int64) {
	n := len(latencies)
	flags = make([]bool, n)
	count := exactCeil(fraction, n)
	if count == 0 {
		return flags, 0
	}
	threshold = atRank(latencies, n-count+1)
	for i, v := range latencies {
		if v > threshold {
			flags[i] = true
			count--
		}
	}
	for i, v := range latencies {
		if v == threshold && count > 0 {
			flags[i] = true
			count--
		}
	}
	return flags, threshold
}

// exactCeil is ceil(fraction n) for the fraction as it is written in decimals,
// not for the float nearest to it.
func exactCeil(fraction float64, n int) int {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(fraction, 'g', -1, 64))
	if !ok {
		return 0
	}
	exact.Mul(exact, big.NewRat(int64(n), 1))
	whole := new(big.Int).Div(exact.Num(), exact.Denom())
	if !exact.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	return min(int(whole.Int64()), n)
}
