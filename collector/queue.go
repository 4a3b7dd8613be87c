package collector

import "github.com/tailtrace/tailtrace/collector/eventfile"

// queue holds the records of one ring by time. A ring is in order but for
// small steps back, where an interrupt wrote between another event's stamp
// and its place in the ring, so that inserting from the end is cheap.
type queue struct {
	records []record
	first   int
}

func (q *queue) insert(r record) {
	q.records = append(q.records, r)
	for i := len(q.records) - 1; i > q.first && q.records[i-1].time > r.time; i-- {
		q.records[i], q.records[i-1] = q.records[i-1], q.records[i]
	}
}

func (q *queue) head() (eventfile.Time, bool) {
	if q.first == len(q.records) {
		return 0, false
	}
	return q.records[q.first].time, true
}

// pop takes the oldest record of a queue that has one.
func (q *queue) pop() record {
	r := q.records[q.first]
	q.first++
	return r
}

// live returns the records still held, moved to the front.
func (q *queue) live() []record {
	if q.first > 0 {
		n := copy(q.records, q.records[q.first:])
		q.records, q.first = q.records[:n], 0
	}
	return q.records
}

// arena holds the bytes of records in blocks that are used again, so that a
// busy recording makes no garbage.
type arena struct {
	blocks [][]byte // the last one is being filled
	spare  [][]byte
}

const (
	arenaBlock  = 256 << 10
	spareBlocks = 64
)

// copy returns a copy of raw, aligned for the event structs.
func (a *arena) copy(raw []byte) []byte {
	last := len(a.blocks) - 1
	if last < 0 || cap(a.blocks[last])-len(a.blocks[last]) < len(raw)+7 {
		a.grow()
		last = len(a.blocks) - 1
	}
	b := a.blocks[last]
	from := (len(b) + 7) &^ 7
	b = append(b[:from], raw...)
	a.blocks[last] = b
	return b[from:len(b):len(b)]
}

func (a *arena) grow() {
	if n := len(a.spare); n > 0 {
		a.blocks = append(a.blocks, a.spare[n-1][:0])
		a.spare = a.spare[:n-1]
		return
	}
	a.blocks = append(a.blocks, make([]byte, 0, arenaBlock))
}

func (a *arena) recycle(blocks [][]byte) {
	a.spare = append(a.spare, blocks...)
	a.spare = a.spare[:min(len(a.spare), spareBlocks)]
}
