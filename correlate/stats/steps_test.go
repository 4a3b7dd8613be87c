package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStepsBySmallNumbers(t *testing.T) {
	tail := []bool{false, false, false, true, true}
	steps := []Step{{"a", []int64{10, 11, 12, 30, 12}}, {"b", []int64{100, 100, 100, 110, 150}}, {"c", []int64{-1, 5, 5, -1, 0}}}
	got := Steps(tail, steps)
	for i := range got {
		got[i].ShuffledRatio = 0
	}
	want := []StepRow{
		{Name: "a", AllMedian: 12, TailMedian: 12, Ratio: 1, Furthest: 1},
		{Name: "b", AllMedian: 100, TailMedian: 110, Ratio: 1.1, Furthest: 1},
		{Name: "c", AllMedian: 5, TailMedian: 0, Ratio: 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Steps(tail, nil); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// The choice of the slowest makes steps look slower even where they have
// nothing to do with each other, and the shuffle shows by how much. Only when
// the steps of a request are slow together is the ratio above it.
func TestShuffleControl(t *testing.T) {
	const n = 50_000
	for _, together := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 8))
		steps := make([]Step, 6)
		total := make([]int64, n)
		for s := range steps {
			steps[s] = Step{Name: string(rune('a' + s)), Ns: make([]int64, n)}
		}
		for i := range n {
			stretch := 1.0
			if together && i%200 == 0 {
				stretch = 1.15
			}
			for s := range steps {
				ns := int64((1 + .01*rng.NormFloat64()) * stretch * 150e3)
				steps[s].Ns[i] = ns
				total[i] += ns
			}
		}
		tail := make([]bool, n)
		for _, i := range slowestOf([][]int64{total}, n/100) {
			tail[i] = true
		}
		for _, row := range Steps(tail, steps) {
			if row.ShuffledRatio < 1 || row.ShuffledRatio > 1.03 {
				t.Errorf("together %v: shuffled %+v", together, row)
			}
			if over := row.Ratio - row.ShuffledRatio; together != (over > .03) {
				t.Errorf("together %v: %+v", together, row)
			}
		}
	}
}

func TestStepsAreTheSameForTheSameData(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	steps := []Step{{"a", make([]int64, 1000)}, {"b", make([]int64, 1000)}}
	for _, s := range steps {
		for i := range s.Ns {
			s.Ns[i] = rng.Int64N(1e6)
		}
	}
	tail := scattered(rng, 1000, 10)
	if diff := cmp.Diff(Steps(tail, steps), Steps(tail, steps)); diff != "" {
		t.Error(diff)
	}
}
