package lab

import (
	"math/rand/v2"
	"time"
)

// worker does calibrated work: arithmetic and a walk through memory that fits
// into a core's own cache.
type worker struct {
	table  []uint32 // one cycle through all of its elements
	at     uint32
	sum    uint64
	rounds float64 // per ns
}

const tableLen = 16 << 10 // 64 KiB

func newWorker() *worker {
	w := &worker{table: make([]uint32, tableLen)}
	order := rand.New(rand.NewPCG(1, 2)).Perm(tableLen)
	for i, at := range order {
		w.table[at] = uint32(order[(i+1)%tableLen])
	}
	w.calibrate()
	return w
}

// calibrate takes the best of many short runs: the others were disturbed.
func (w *worker) calibrate() {
	const rounds = 20_000
	best := int64(time.Second)
	for range 200 {
		begin := now()
		w.run(rounds)
		best = min(best, now()-begin)
	}
	w.rounds = rounds / float64(max(best, 1))
}

// work takes ns nanoseconds on an undisturbed core.
func (w *worker) work(ns int64) {
	w.run(int64(float64(ns) * w.rounds))
}

func (w *worker) run(rounds int64) {
	at, sum := w.at, w.sum
	for range rounds {
		at = w.table[at]
		sum = sum*6364136223846793005 + uint64(at)
	}
	w.at, w.sum = at, sum
}
