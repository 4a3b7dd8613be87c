package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// lateStacks are where the latest clock samples found each thread of the
// service, to say in which calls it was while another one waited for it.
type lateStacks map[int32]*threadStacks

// threadStacks is a ring of one thread's samples.
type threadStacks struct {
	ring []sampledStack
	next int
}

type sampledStack struct {
	at    Time
	stack uint64
}

// maxLateStacks is half a second at 1000 samples a second.
const maxLateStacks = 512

// add takes a sample. Only those of traced threads have a stack.
func (l lateStacks) add(e *eventfile.Event) {
	if e.Stack == 0 {
		return
	}
	t := l[e.Tid]
	if t == nil {
		t = &threadStacks{}
		l[e.Tid] = t
	}
	s := sampledStack{e.Time, e.Stack}
	if len(t.ring) < maxLateStacks {
		t.ring = append(t.ring, s)
		return
	}
	t.ring[t.next] = s
	t.next = (t.next + 1) % maxLateStacks
}

// between counts the stacks of thread tid in [from, to), as far back as they
// are remembered.
func (l lateStacks) between(tid int32, from, to Time) map[uint64]int64 {
	t := l[tid]
	if t == nil {
		return nil
	}
	counts := map[uint64]int64{}
	for _, s := range t.ring {
		if s.at >= from && s.at < to {
			counts[s.stack]++
		}
	}
	return counts
}
