package stats

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
	slightly := slices.Clone(arm) // told apart, but by a hundredth of the tail's change
	for i := range slightly {
		base[i].P50, slightly[i].P50 = 1_000_000+int64(i), 999_000+int64(i)
	}
	if c, err := Compare(base, slightly); err != nil || !c.Percentiles[0].ToldApart || find(c, "not the tail alone") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestChanceOfApart(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 1. / 3, 3: .1, 4: 2. / 70, 5: 2. / 252} {
		near(t, "chance", chanceOfApart(n), want, 1e-12)
	}
}

func TestTailsShareCustomersButNotPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	var sets []*rows.Set
	for i := range 3 {
		w := newWorkload(rng.Uint64())
		for range 20_000 {
			customer, latency := rng.IntN(500), w.usual()
			if customer < 5 {
				latency += 1e6
			}
			w.send(latency, fmt.Sprintf(`, "customer": "c%d"`, customer))
		}
		sets = append(sets, w.set(t))
		sets[i].Name = fmt.Sprintf("run%d.jsonl", i+1)
	}
	shared := SharedTails(sets, .01, "customer")
	if s := shared[0]; s.What != "position" || len(s.Pairs) != 3 || s.Beyond != 0 || s.TailShare > .05 || s.AllShare != .01 {
		t.Errorf("positions: %+v", s)
	}
	if s := shared[1]; s.What != "customer" || s.Beyond != 3 || s.TailShare < .9 || s.AllShare > .3 || s.Pairs[2].From != "run2" || s.Pairs[2].To != "run3" {
		t.Errorf("customers: %+v", s)
	}
	if s := SharedTails(sets, .01, "no such column")[1]; s.TailShare != 0 || s.Beyond != 0 {
		t.Errorf("no such column: %+v", s)
	}
	if s := SharedTails(sets[:1], .01, ""); len(s) != 1 || len(s[0].Pairs) != 0 {
		t.Errorf("one run: %+v", s)
	}
	again := *sets[0]
	again.Name, again.Rows = "again.jsonl", again.Rows[:19_000]
	if s := SharedTails([]*rows.Set{sets[0], &again}, .01, "")[0]; s.TailShare < .9 || s.Beyond != 1 {
		t.Errorf("the same positions: %+v", s)
	}
}
