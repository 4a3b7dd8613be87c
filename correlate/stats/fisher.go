package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Table counts requests by two properties: in the tail with and without an
// attribute, outside of it with and without.
type Table struct {
	TailWith, TailWithout int
	RestWith, RestWithout int
}

// TableOf counts requests by tail and attribute.
func TableOf(tail, has []bool) (t Table) {
	for i, in := range tail {
		switch {
		case in && has[i]:
			t.TailWith++
		case in:
			t.TailWithout++
		case has[i]:
			t.RestWith++
		default:
			t.RestWithout++
		}
	}
	return t
}

// OddsRatio with its 95% interval, by the normal approximation of its
// logarithm (Woolf); nil where a cell is empty.
func (t Table) OddsRatio() *Odds {
	if min(t.TailWith, t.TailWithout, t.RestWith, t.RestWithout) == 0 {
		return nil
	}
	a, b, c, d := float64(t.TailWith), float64(t.TailWithout), float64(t.RestWith), float64(t.RestWithout)
	ratio := a * d / (b * c)
	half := distuv.UnitNormal.Quantile(1-(1-Confidence)/2) * math.Sqrt(1/a+1/b+1/c+1/d)
	return &Odds{Ratio: ratio, Low: ratio * math.Exp(-half), High: ratio * math.Exp(half)}
}

// Fisher is the exact test for independent requests: greater is the chance of
// so many or more with the attribute in the tail, twoSided that of any table
// no more likely than this one. Requests that are slow in bursts are not
// independent, and then it finds far too much: see ShiftTest.
func (t Table) Fisher() (greater, twoSided float64) {
	tail, with := t.TailWith+t.TailWithout, t.TailWith+t.RestWith
	n := tail + t.RestWith + t.RestWithout
	total := combin.LogGeneralizedBinomial(float64(n), float64(tail))
	chance := func(k int) float64 {
		return math.Exp(combin.LogGeneralizedBinomial(float64(with), float64(k)) +
			combin.LogGeneralizedBinomial(float64(n-with), float64(tail-k)) - total)
	}
	here := chance(t.TailWith)
	for k := max(0, tail-(n-with)); k <= min(tail, with); k++ {
		p := chance(k)
		if k >= t.TailWith {
			greater += p
		}
		if p <= here*(1+1e-7) {
			twoSided += p
		}
	}
	return min(greater, 1), min(twoSided, 1)
}
