package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestScatteredTailHasNoBursts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	found := 0
	for range 20 {
		found += len(burstsOf(scattered(rng, 100_000, 1000)))
	}
	if found > 2 {
		t.Errorf("%d bursts in 20 runs at random", found)
	}
}

func TestBurstsAreFoundWithStartLengthAndSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	const n = 100_000
	tail := scattered(rng, n, 300)
	type span struct{ first, last int }
	var want []span
	for i := range 7 {
		start := 9000 + 13_000*i
		for j := range 400 {
			tail[start+j] = rng.Float64() < .25
		}
		first, last := start, start+399
		for !tail[first] {
			first++
		}
		for !tail[last] {
			last--
		}
		want = append(want, span{first, last})
	}
	got := burstsOf(tail)
	if len(got) != len(want) {
		t.Fatalf("%d bursts %+v, want %d", len(got), got, len(want))
	}
	for i, b := range got {
		if math.Abs(float64(b.first-want[i].first)) > 30 || math.Abs(float64(b.last-want[i].last)) > 30 {
			t.Errorf("burst %d: %d..%d, want %+v", i, b.first, b.last, want[i])
		}
		count := 0
		for _, in := range tail[b.first : b.last+1] {
			if in {
				count++
			}
		}
		if count != b.Tail {
			t.Errorf("burst %d: says %d tail requests, holds %d", i, b.Tail, count)
		}
	}
}

func TestBurstAtEitherEndOfARun(t *testing.T) {
	tail := make([]bool, 5000)
	for i := range 20 {
		tail[i], tail[len(tail)-1-i] = true, true
	}
	got := burstsOf(tail)
	if len(got) != 2 || got[0].first != 0 || got[0].last != 19 || got[1].first != 4980 || got[1].last != 4999 {
		t.Errorf("%+v", got)
	}
	for _, none := range [][]bool{nil, {true}, {false}, {true, true}} {
		if got := burstsOf(none); len(got) != 0 {
			t.Errorf("%v: %+v", none, got)
		}
	}
}

// Dropping starts early must not change the optimum.
func TestDivideIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	value := func(pieces []piece, penalty float64) (sum float64) {
		for _, p := range pieces {
			e, n := float64(p.events()), float64(p.length())
			for _, x := range []float64{e, n - e} {
				if x > 0 {
					sum += x * math.Log(x/n)
				}
			}
			sum -= penalty
		}
		return sum
	}
	for range 200 {
		cells := cellsOf(bursty(rng, 1+rng.IntN(40), .3, 3))
		if len(cells) > 14 {
			continue
		}
		const penalty = 1.5
		best := math.Inf(-1)
		for cuts := range 1 << (len(cells) - 1) {
			var pieces []piece
			from := 0
			for i := range cells {
				if i == len(cells)-1 || cuts>>i&1 == 1 {
					pieces = append(pieces, piece{cells, from, i + 1})
					from = i + 1
				}
			}
			best = max(best, value(pieces, penalty))
		}
		near(t, "value of the division", value(divide(cells, penalty), penalty), best, 1e-9)
	}
}

func BenchmarkBursts(b *testing.B) {
	tail := scattered(rand.New(rand.NewPCG(1, 1)), 100_000, 1000)
	for b.Loop() {
		burstsOf(tail)
	}
}
