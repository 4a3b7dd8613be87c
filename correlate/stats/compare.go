package stats

import (
	"fmt"
	"math"
	"slices"
)

// Comparison of an arm with a base, round by round.
type Comparison struct {
	Rounds int `json:"rounds"`
	// Chance is how often noise alone tells any one percentile apart: that all
	// values of one side lie below all of the other's.
	Chance      float64      `json:"chance"`
	Percentiles []Difference `json:"percentiles"`
	Notes       []string     `json:"notes"`
}

// Difference of one percentile; Base and Arm have one value for each round.
type Difference struct {
	Name      string  `json:"name"`
	Base      []int64 `json:"base_ns"`
	Arm       []int64 `json:"arm_ns"`
	Median    int64   `json:"median_difference_ns"` // of arm - base, round by round
	ToldApart bool    `json:"told_apart"`
}

// Compare holds paired rounds against each other. A percentile is told apart
// only where all paired differences have one sign and the two ranges do not
// overlap.
func Compare(base, arm []Percentiles) (*Comparison, error) {
	if len(base) != len(arm) || len(base) == 0 {
		return nil, fmt.Errorf("compare rounds: %d of the base and %d of the arm do not pair up", len(base), len(arm))
	}
	c := &Comparison{Rounds: len(base), Chance: chanceOfApart(len(base))}
	for _, name := range percentileNames() {
		c.Percentiles = append(c.Percentiles, differenceOf(name, base, arm))
	}
	if len(base) < 2 {
		c.note("one round cannot be told from noise: repeat it")
	} else if c.Chance > .05 {
		c.note("with %d rounds noise alone tells a percentile apart in %.0f%% of comparisons", len(base), 100*c.Chance)
	}
	c.noteShift()
	return c, nil
}

func (c *Comparison) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// hardly is the share of the tail's change, each relative to its size, up to
// which the median is said to have hardly moved.
const hardly = .1

// noteShift looks at the median beside the tail: what mends only the tail
// hardly moves it.
func (c *Comparison) noteShift() {
	median := c.Percentiles[0]
	if !median.ToldApart {
		return
	}
	for _, d := range c.Percentiles[1:] {
		if d.ToldApart && (d.Median < 0) == (median.Median < 0) && math.Abs(median.relative()) >= hardly*math.Abs(d.relative()) {
			c.note("p50 moved by %+.3g%%, and %s by %+.3g%%: everything changed, not the tail alone", 100*median.relative(), d.Name, 100*d.relative())
			return
		}
	}
}

// relative is the difference as a share of the base.
func (d Difference) relative() float64 {
	base := slices.Sorted(slices.Values(d.Base))
	return float64(d.Median) / float64(max(NearestRank(base, .5), 1))
}

func differenceOf(name string, base, arm []Percentiles) Difference {
	d := Difference{Name: name}
	for i := range base {
		d.Base, d.Arm = append(d.Base, base[i].Get(name)), append(d.Arm, arm[i].Get(name))
	}
	d.Median, d.ToldApart = Apart(d.Base, d.Arm)
	return d
}

// Apart holds the values of paired rounds against each other: the median of
// the differences arm - base, and whether they are told apart.
func Apart[T int64 | float64](base, arm []T) (median T, apart bool) {
	differences := make([]T, len(base))
	for i := range base {
		differences[i] = arm[i] - base[i]
	}
	slices.Sort(differences)
	last := len(differences) - 1
	oneSign := differences[0] > 0 || differences[last] < 0
	below, above := slices.Max(arm) < slices.Min(base), slices.Min(arm) > slices.Max(base)
	return differences[last/2], len(base) > 1 && oneSign && (below || above)
}

// chanceOfApart is 2 / C(2n, n): of the equally likely orders of 2n values, two
// have all of one side first.
func chanceOfApart(n int) float64 {
	orders := 1.0
	for i := 1; i <= n; i++ {
		orders *= float64(n+i) / float64(i)
	}
	return math.Min(1, 2/orders)
}
