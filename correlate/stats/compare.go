package stats

import (
	"fmt"
	"math"
	"slices"
	"time"
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

// Verdict says in words what the difference allows to say.
func (d Difference) Verdict() string {
	if d.ToldApart {
		return "told apart"
	}
	return "cannot be told apart from run-to-run noise"
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

// noteShift looks at the median beside the tail: what mends only the tail
// hardly moves it.
func (c *Comparison) noteShift() {
	median := c.Percentiles[0]
	if !median.ToldApart {
		return
	}
	for _, d := range c.Percentiles[1:] {
		if d.ToldApart && (d.Median < 0) == (median.Median < 0) {
			c.note("p50 moved by %v as well: everything changed, not the tail alone", time.Duration(median.Median))
			return
		}
	}
}

func differenceOf(name string, base, arm []Percentiles) Difference {
	d := Difference{Name: name}
	differences := make([]int64, len(base))
	for i := range base {
		b, a := base[i].Get(name), arm[i].Get(name)
		d.Base, d.Arm = append(d.Base, b), append(d.Arm, a)
		differences[i] = a - b
	}
	slices.Sort(differences)
	d.Median = NearestRank(differences, .5)
	below, above := slices.Max(d.Arm) < slices.Min(d.Base), slices.Min(d.Arm) > slices.Max(d.Base)
	oneSign := differences[0] > 0 || differences[len(differences)-1] < 0
	d.ToldApart = len(base) > 1 && oneSign && (below || above)
	return d
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
