package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// rounds has the given values as every percentile.
func rounds(values ...int64) (out []Percentiles) {
	for _, v := range values {
		out = append(out, Percentiles{v, v, v, v, v, 1000})
	}
	return out
}

func TestToldApart(t *testing.T) {
	for _, tc := range []struct {
		base, arm []int64
		want      bool
		median    int64
	}{
		{[]int64{10, 11, 12}, []int64{5, 6, 7}, true, -5},
		{[]int64{10, 11, 12}, []int64{20, 19, 30}, true, 10},
		{[]int64{10, 20, 30}, []int64{9, 19, 29}, false, -1}, // one sign, but the ranges overlap
		{[]int64{10, 11, 12}, []int64{12, 13, 14}, false, 2}, // the ranges touch
		{[]int64{10, 11, 12}, []int64{9, 12, 11}, false, -1}, // both signs
		{[]int64{10, 11, 12}, []int64{10, 11, 12}, false, 0}, // nothing
		{[]int64{10}, []int64{5}, false, -5},                 // once is noise
		{[]int64{10, 11}, []int64{5, 6}, true, -5},
	} {
		c, err := Compare(rounds(tc.base...), rounds(tc.arm...))
		if err != nil {
			t.Fatal(err)
		}
		if d := c.Percentiles[2]; d.ToldApart != tc.want || d.Median != tc.median || d.Name != "p99" {
			t.Errorf("%v and %v: %+v, want %v and %d", tc.base, tc.arm, d, tc.want, tc.median)
		}
	}
	for _, tc := range [][2][]Percentiles{{nil, nil}, {rounds(1), nil}, {rounds(1, 2), rounds(1)}} {
		if c, err := Compare(tc[0], tc[1]); err == nil {
			t.Errorf("%+v, want an error", c)
		}
	}
}

func TestCompareNotesAMovedMedianAndFewRounds(t *testing.T) {
	find := func(c *Comparison, part string) bool {
		return strings.Contains(strings.Join(c.Notes, "\n"), part)
	}
	both, err := Compare(rounds(10, 11, 12, 13), rounds(5, 6, 7, 8))
	if err != nil {
		t.Fatal(err)
	}
	if !find(both, "everything changed, not the tail alone") || find(both, "noise alone") {
		t.Errorf("%q", both.Notes)
	}
	base, arm := rounds(10, 11, 12), rounds(5, 6, 7)
	for i := range arm {
		arm[i].P50 = base[i].P50
	}
	tailOnly, err := Compare(base, arm)
	if err != nil {
		t.Fatal(err)
	}
	if find(tailOnly, "not the tail alone") || !find(tailOnly, "3 rounds noise alone tells a percentile apart in 10%") {
		t.Errorf("%q", tailOnly.Notes)
	}
}

func TestChanceOfApart(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 1. / 3, 3: .1, 4: 2. / 70, 5: 2. / 252} {
		near(t, "chance", chanceOfApart(n), want, 1e-12)
	}
}

func TestTailsShareCustomersButNotPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	oneRun := func() (*rows.Set, []bool) {
		w := newWorkload(rng.Uint64())
		for range 20_000 {
			customer, latency := rng.IntN(500), w.usual()
			if customer < 5 {
				latency += 1e6
			}
			w.send(latency, fmt.Sprintf(`, "customer": "c%d"`, customer))
		}
		set := w.set(t)
		return set, TailOf(set.Rows, .01).Member
	}
	a, tailA := oneRun()
	b, tailB := oneRun()
	if s := SharedPositions(a.Rows, b.Rows, tailA, tailB); s.P < .01 || s.TailShare > .05 {
		t.Errorf("positions: %+v", s)
	}
	if s := SharedKeys(a, b, tailA, tailB, "customer"); s.P > .001 || s.TailShare < .9 || s.Ratio < 3 {
		t.Errorf("customers: %+v", s)
	}
	if s := SharedKeys(a, b, tailA, tailB, "no such column"); s.TailShare != 0 || s.P != 1 {
		t.Errorf("no such column: %+v", s)
	}
	for i := range tailB {
		tailB[i] = tailA[i]
	}
	if s := SharedPositions(a.Rows, b.Rows[:19_000], tailA, tailB[:19_000]); s.TailShare != 1 || s.P > .001 {
		t.Errorf("the same positions: %+v", s)
	}
}
