package lab

import (
	"math/rand/v2"
	"time"
)

// worker does calibrated work: arithmetic and a walk through memory that fits
// into a core's own cache.
type worker struct {
	walk
	rounds float64 // per ns
}

// walk goes through a table in an order that no prefetcher foresees. Each
// round takes the same instructions, whatever the table.
type walk struct {
	table []uint32 // one cycle through all of its elements
	at    uint32
	sum   uint64
}

const tableLen = 16 << 10 // 64 KiB

func newWorker() *worker {
	w := &worker{walk: walk{table: cycle(tableLen, 1)}}
	w.rounds = 1 / w.calibrate(200)
	return w
}

// clone returns a worker of the same speed for another thread.
func (w *worker) clone() *worker {
	return &worker{walk: walk{table: w.table}, rounds: w.rounds}
}

// cycle returns a table of n elements, stride apart, each of which holds the
// place of the next.
func cycle(n, stride int) []uint32 {
	table := make([]uint32, n*stride)
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	for i, at := range order {
		table[at*stride] = uint32(order[(i+1)%n] * stride)
	}
	return table
}

// calibrate returns what a round takes, ns: the best of many short runs,
// because the others were disturbed.
func (w *walk) calibrate(runs int) float64 {
	const rounds = 20_000
	best := int64(time.Second)
	for range runs {
		begin := now()
		w.run(rounds)
		best = min(best, now()-begin)
	}
	return float64(max(best, 1)) / rounds
}

// work takes ns nanoseconds on an undisturbed core.
func (w *worker) work(ns int64) {
	w.run(int64(float64(ns) * w.rounds))
}

func (w *walk) run(rounds int64) {
	at, sum := w.at, w.sum
	for range rounds {
		at = w.table[at]
		sum = sum*6364136223846793005 + uint64(at)
	}
	w.at, w.sum = at, sum
}

// coldMemory is far larger than a cache.
type coldMemory struct {
	walk
	hit, miss float64 // what a round takes in the cache and here, ns
}

const (
	coldBytes = 128 << 20
	lineBytes = 64
)

func newColdMemory() *coldMemory {
	c := &coldMemory{walk: walk{table: cycle(coldBytes/lineBytes, lineBytes/4)}}
	hot := walk{table: cycle(tableLen, 1)}
	c.hit, c.miss = hot.calibrate(100), c.calibrate(10)
	return c
}

// workCold does the rounds of usual ns of work, so many of them in cold memory
// that they take more ns longer.
func (w *worker) workCold(c *coldMemory, usual, more int64) {
	rounds := int64(float64(usual) * w.rounds)
	cold := min(int64(float64(more)/(c.miss-c.hit)), rounds)
	c.run(cold)
	w.run(rounds - cold)
}
