package recheck

import (
	"math"
	"math/bits"
)

// nextInTail follows each tail request to the next of its run.
func nextInTail(runs [][]bool) (observed, chance float64) {
	both, followed := 0, 0
	for _, tail := range runs {
		members, pairs := 0, 0
		for i := range tail {
			if tail[i] {
				members++
			}
			if i > 0 && tail[i-1] {
				pairs++
				if tail[i] {
					both++
				}
			}
		}
		followed += pairs
		if pairs > 0 {
			chance += float64(pairs*(members-1)) / float64(len(tail)-1)
		}
	}
	if followed == 0 {
		return 0, 0
	}
	return float64(both) / float64(followed), chance / float64(followed)
}

type page struct {
	K        int     `json:"k"`
	InARow   float64 `json:"in_a_row"`
	AtRandom float64 `json:"at_random"`
	Formula  float64 `json:"formula"`
}

// pages slides a window over every run.
func pages(runs [][]bool) (out []page) {
	n, members, longest := 0, 0, 0
	for _, tail := range runs {
		n += len(tail)
		longest = max(longest, len(tail))
		for _, in := range tail {
			if in {
				members++
			}
		}
	}
	for k := 1; k <= min(100, longest); k++ {
		hit, all := 0, 0
		for _, tail := range runs {
			inside := 0
			for i, in := range tail {
				if in {
					inside++
				}
				if i >= k && tail[i-k] {
					inside--
				}
				if i >= k-1 {
					all++
					if inside > 0 {
						hit++
					}
				}
			}
		}
		p := page{K: k, InARow: float64(hit) / float64(all), AtRandom: 1, Formula: 1}
		if k <= n-members {
			p.AtRandom = -math.Expm1(logMiss(n, members, k))
		}
		if members < n {
			p.Formula = -math.Expm1(float64(k) * math.Log1p(-float64(members)/float64(n)))
		}
		out = append(out, p)
	}
	return out
}

// logMiss is the logarithm of the chance that k of n requests, none twice, are
// none of the members.
func logMiss(n, members, k int) (sum float64) {
	for i := range k {
		sum += math.Log1p(-float64(members) / float64(n-i))
	}
	return sum
}

// ShiftP is the share of all circular shifts at which has meets the tail at
// least as often as unshifted, by counting the bits of every shift.
func ShiftP(tail, has []bool) float64 {
	n := len(tail)
	if n == 0 {
		return 1
	}
	twice := make([]uint64, 2*n/64+2) // has, twice in a row
	for i := range 2 * n {
		if has[i%n] {
			twice[i/64] |= 1 << (i % 64)
		}
	}
	words := map[int]uint64{} // those of the tail that are not empty
	for i, in := range tail {
		if in {
			words[i/64] |= 1 << (i % 64)
		}
	}
	type word struct {
		at   int
		bits uint64
	}
	list := make([]word, 0, len(words))
	for at, w := range words {
		list = append(list, word{at, w})
	}
	unshifted, atLeast := 0, 0
	for s := range n {
		count := 0
		for _, w := range list {
			from := w.at + s/64
			shifted := twice[from] >> (s % 64)
			if s%64 > 0 {
				shifted |= twice[from+1] << (64 - s%64)
			}
			count += bits.OnesCount64(shifted & w.bits)
		}
		if s == 0 {
			unshifted = count
		}
		if count >= unshifted {
			atLeast++
		}
	}
	return float64(atLeast) / float64(n)
}
