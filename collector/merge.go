package collector

import (
	"container/heap"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// A record is one event of a ring, not decoded yet.
type record struct {
	time eventfile.Time
	raw  []byte
}

// merger puts the events of all rings in the order of their times.
//
// An event is released only once it is older than the moment at which the
// drain before the latest one began. Whatever was stamped before that moment
// has had a whole drain interval to get into its ring, and the latest drain
// has then fetched it; so no release can be overtaken, unless a CPU was taken
// from the machine between stamp and write for longer than the interval. Such
// a late event is released all the same, and counted.
type merger struct {
	queues    []queue // one a ring
	arena     arena
	watermark eventfile.Time // the release limit
	began     eventfile.Time // of the latest drain
	released  eventfile.Time // the newest time released
	late      lateCount
}

type lateCount struct {
	count       uint64
	first, last eventfile.Time
}

func newMerger(rings int) *merger {
	return &merger{queues: make([]queue, rings)}
}

// begin starts a drain at time now, before any ring is read.
func (m *merger) begin(now eventfile.Time) {
	m.watermark, m.began = m.began, now
}

// finish lets everything go: the sources are closed and drained.
func (m *merger) finish() { m.watermark = 1<<63 - 1 }

// add takes one event of a ring; raw is copied.
func (m *merger) add(ring int, t eventfile.Time, raw []byte) {
	m.queues[ring].insert(record{t, m.arena.copy(raw)})
}

// release passes on the events that are due, in order.
func (m *merger) release(each func(raw []byte) error) error {
	h := mergeHeap{m: m}
	for i := range m.queues {
		if m.due(i) {
			h.rings = append(h.rings, i)
		}
	}
	heap.Init(&h)
	for len(h.rings) > 0 {
		ring := h.rings[0]
		r := m.queues[ring].pop()
		if m.due(ring) {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
		m.note(r.time)
		if err := each(r.raw); err != nil {
			return err
		}
	}
	m.compact()
	return nil
}

func (m *merger) due(ring int) bool {
	t, ok := m.queues[ring].head()
	return ok && t < m.watermark
}

func (m *merger) note(t eventfile.Time) {
	if t >= m.released {
		m.released = t
		return
	}
	if m.late.count == 0 {
		m.late.first, m.late.last = t, t
	}
	m.late.count++
	m.late.first = min(m.late.first, t)
	m.late.last = max(m.late.last, t)
}

// takeLate returns the late events since it was last called.
func (m *merger) takeLate() lateCount {
	l := m.late
	m.late = lateCount{}
	return l
}

// compact moves the records still held to fresh memory, so that the rest can
// be used again.
func (m *merger) compact() {
	var next arena
	next.spare = m.arena.spare
	for i := range m.queues {
		for j, r := range m.queues[i].live() {
			m.queues[i].live()[j].raw = next.copy(r.raw)
		}
	}
	next.recycle(m.arena.blocks)
	m.arena = next
}

// mergeHeap orders rings by the time of their first record.
type mergeHeap struct {
	m     *merger
	rings []int
}

func (h *mergeHeap) Len() int { return len(h.rings) }

func (h *mergeHeap) Less(i, j int) bool {
	a, _ := h.m.queues[h.rings[i]].head()
	b, _ := h.m.queues[h.rings[j]].head()
	if a != b {
		return a < b
	}
	return h.rings[i] < h.rings[j]
}

func (h *mergeHeap) Swap(i, j int) { h.rings[i], h.rings[j] = h.rings[j], h.rings[i] }

func (h *mergeHeap) Push(x any) { h.rings = append(h.rings, x.(int)) }

func (h *mergeHeap) Pop() any {
	last := len(h.rings) - 1
	x := h.rings[last]
	h.rings = h.rings[:last]
	return x
}
