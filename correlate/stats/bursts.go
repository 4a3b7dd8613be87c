package stats

import "math"

// Burst is a stretch of requests in which the tail is far more frequent than
// elsewhere in its run.
type Burst struct {
	Run     string `json:"run,omitempty"`
	StartNs int64  `json:"start_ns"` // send of its first tail request, on the rows' clock
	EndNs   int64  `json:"end_ns"`   // recv of its last one
	Second  int    `json:"second"`   // of the run in which it starts, as in Second
	Tail    int    `json:"tail"`     // tail requests in it

	first, last int // indices of those requests in the run
}

// burstRate is how many times as frequent as in the whole run the tail must be.
const burstRate = 2

// burstsOf finds the stretches of a run, given in the order of sending, as the
// pieces of the best division into pieces of constant tail rate (change points
// by exact dynamic programming). A change point must raise the log-likelihood
// by log n; two of them enclose a burst, so about five tail requests in a row
// out of 100,000 are one, and a few close together by chance are not.
func burstsOf(tail []bool) (bursts []Burst) {
	cells := cellsOf(tail)
	overall := share(len(indicesOf(tail)), len(tail))
	for _, piece := range divide(cells, math.Log(float64(max(len(tail), 2)))) {
		events := piece.events()
		if events == 0 || float64(events) <= burstRate*overall*float64(piece.length()) {
			continue
		}
		next := Burst{Tail: events, first: piece.start(), last: piece.end() - 1}
		for !tail[next.first] {
			next.first++
		}
		for !tail[next.last] {
			next.last--
		}
		if n := len(bursts); n > 0 && bursts[n-1].last+1 == next.first {
			bursts[n-1].last, bursts[n-1].Tail = next.last, bursts[n-1].Tail+events
			continue
		}
		bursts = append(bursts, next)
	}
	return bursts
}

// cell is a stretch of requests that are all in the tail or all outside.
type cell struct{ end, eventsBefore, events int }

// cellsOf divides the run where its flags change: no better change point lies
// between two equal flags.
func cellsOf(tail []bool) []cell {
	var cells []cell
	before := 0
	for i := 0; i < len(tail); {
		end := i + 1
		for end < len(tail) && tail[end] == tail[i] {
			end++
		}
		c := cell{end: end, eventsBefore: before}
		if tail[i] {
			c.events = end - i
		}
		before += c.events
		cells = append(cells, c)
		i = end
	}
	return cells
}

// piece is cells[from:to] of one constant rate.
type piece struct {
	cells    []cell
	from, to int
}

func (p piece) start() int {
	if p.from == 0 {
		return 0
	}
	return p.cells[p.from-1].end
}

func (p piece) end() int    { return p.cells[p.to-1].end }
func (p piece) length() int { return p.end() - p.start() }

func (p piece) events() int {
	last := p.cells[p.to-1]
	return last.eventsBefore + last.events - p.cells[p.from].eventsBefore
}

// divide finds the division with the largest sum of binomial log-likelihoods
// less penalty for each piece. Starts that can no longer lead to it are dropped
// on the way (PELT: Killick, Fearnhead and Eckley 2012).
func divide(cells []cell, penalty float64) []piece {
	if len(cells) == 0 {
		return nil
	}
	xlogx := make([]float64, cells[len(cells)-1].end+1)
	for x := 2; x < len(xlogx); x++ {
		xlogx[x] = float64(x) * math.Log(float64(x))
	}
	likelihood := func(p piece) float64 {
		events, length := p.events(), p.length()
		return xlogx[events] + xlogx[length-events] - xlogx[length]
	}
	best := make([]float64, len(cells)+1) // of the cells before
	from := make([]int, len(cells)+1)
	starts := []int{}
	for to := 1; to <= len(cells); to++ {
		starts = append(starts, to-1)
		best[to] = math.Inf(-1)
		for _, start := range starts {
			value := best[start] + likelihood(piece{cells, start, to}) - penalty
			if value > best[to] {
				best[to], from[to] = value, start
			}
		}
		kept := starts[:0]
		for _, start := range starts {
			if best[start]+likelihood(piece{cells, start, to}) >= best[to] {
				kept = append(kept, start)
			}
		}
		starts = kept
	}
	var pieces []piece
	for to := len(cells); to > 0; to = from[to] {
		pieces = append(pieces, piece{cells, from[to], to})
	}
	for i, j := 0, len(pieces)-1; i < j; i, j = i+1, j-1 {
		pieces[i], pieces[j] = pieces[j], pieces[i]
	}
	return pieces
}
