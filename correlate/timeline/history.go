package timeline

import "github.com/tailtrace/tailtrace/correlate/part"

// maxHistory is how many of a thread's latest segments are kept, to say what
// it did while another one waited for it: with a tick and some samples each
// millisecond, a few hundred ms on the CPU.
const maxHistory = 1024

// history is a ring of a thread's latest segments.
type history struct {
	ring []past
	next int
}

// past is what is kept of a segment.
type past struct {
	start, end Time
	block      *Block
	cpu        int32
	occupant   Ref
	part       part.Part
}

func (h *history) add(s *Segment) {
	p := past{start: s.Start, end: s.End, block: s.Block, cpu: s.CPU, occupant: s.Occupant, part: s.Part}
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, p)
		return
	}
	h.ring[h.next] = p
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
		p := &t.past.ring[(t.past.next+i)%len(t.past.ring)]
		clip(Segment{CPU: p.cpu, Start: p.start, End: p.end, Part: p.part, Occupant: p.occupant, Block: p.block})
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
