package timeline

import "github.com/tailtrace/tailtrace/correlate/part"

// maxHistory is how many of a thread's latest segments are kept, to say what
// it did while another one waited for it.
const maxHistory = 256

// history is a ring of a thread's latest segments, without their spans.
type history struct {
	ring []Segment
	next int
}

func (h *history) add(s *Segment) {
	c := *s
	c.Span = nil // it points into memory that is used again
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, c)
		return
	}
	h.ring[h.next] = c
	h.next = (h.next + 1) % maxHistory
}

// Between passes on what thread tid did in [from, to), oldest first, as far as
// it is remembered: its latest segments, and the state that it is in now. It
// may be called while a segment of another thread is delivered; to must not be
// later than the event that is being added.
func (b *Builder) Between(tid int32, from, to Time, visit func(*Segment)) {
	t := b.threads[tid]
	if t == nil {
		return
	}
	clip := func(s Segment) {
		s.Tid = tid
		s.Start, s.End = max(s.Start, from), min(s.End, to)
		if s.Start < s.End {
			visit(&s)
		}
	}
	for i := range t.past.ring {
		clip(t.past.ring[(t.past.next+i)%len(t.past.ring)])
	}
	now := Segment{CPU: t.cpu, Start: max(t.since, t.cursor), End: to, Block: t.block}
	switch t.state {
	case stateOnCPU:
		var w sweeper // b.sweep may be in use
		w.run(now.Start, max(now.Start, to), t.spans, func(start, end Time, p part.Part, _ *Span) {
			clip(Segment{CPU: t.cpu, Start: start, End: end, Part: p})
		})
	case stateRunnable:
		now.Part, now.Occupant = t.why, t.occupant
		clip(now)
	case stateBlocked:
		now.Part = t.blocked
		clip(now)
	}
}
