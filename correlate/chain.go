package correlate

import (
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// link says what another thread of the service did while a request waited for
// it: the thread that in the end woke the request's, or the one that held the
// lock.
type link struct {
	what     string // EvidenceWakerWas or EvidenceHolderWas
	task     timeline.Ref
	waited   part.Part // what the request was in
	depth    int       // 0: waited for by the request itself
	times    part.Times
	stacks   map[uint64]int64 // of the clock samples that found it on the CPU
	occupant timeline.Ref     // who had the CPU for longest while it waited for one
	held     map[timeline.Ref]int64
	block    *timeline.Block // its longest wait
	blockNS  int64
	request  int32 // that it worked on for longest, or -1
	step     int16 // of that request
}

const (
	// maxDepth bounds a chain of threads that wait for each other: a convoy
	// passes a lock on one by one, and who held it up comes last.
	maxDepth = 32
	// minChain is the wait from which on a chain is followed, ns.
	minChain = 50_000
)

// follow adds to the story of a request what the threads did that its wait in
// segment s depended on.
func (a *accountant) follow(st *story, s *timeline.Segment) {
	b := s.Block
	if b == nil || !s.Part.Voluntary() || s.Len() < minChain || len(st.links) >= maxBlocks {
		return
	}
	if b.Owner != 0 && b.Owner != s.Tid {
		st.links = append(st.links, a.link(EvidenceHolderWas, b.Owner, s.Part, 0, s.Start, s.End))
	}
	tid, from, to := a.waker(b), s.Start, s.End
	for depth := 0; depth < maxDepth && tid != 0 && tid != s.Tid; depth++ {
		l := a.link(EvidenceWakerWas, tid, s.Part, depth, from, to)
		st.links = append(st.links, l)
		if l.block == nil || 2*l.blockNS < int64(to-from) {
			return
		}
		tid, from, to = a.waker(l.block), max(from, l.block.Since), min(to, max(l.block.Woken, from))
	}
}

// waker is the thread of the service that ended a wait, 0 where it was not one
// or an interrupt did it.
func (a *accountant) waker(b *timeline.Block) int32 {
	if b.Woken == 0 || wakeContext(b.WakerBy) != "" {
		return 0
	}
	t := a.builder.Tasks.Get(b.Waker)
	if !t.Target {
		return 0
	}
	return t.Tid
}

func (a *accountant) link(what string, tid int32, waited part.Part, depth int, from, to Time) link {
	l := link{
		what: what, task: a.builder.Tasks.Now(tid), waited: waited, depth: depth,
		held: map[timeline.Ref]int64{}, stacks: a.late.between(tid, from, to),
	}
	l.request, l.step = a.busyWith(tid, from, to)
	a.builder.Between(tid, from, to, func(s *timeline.Segment) {
		l.times[s.Part] += s.Len()
		if s.Part == part.Preempted || s.Part == part.Waking {
			l.held[s.Occupant] += s.Len()
			if l.held[s.Occupant] > l.held[l.occupant] || l.occupant == 0 {
				l.occupant = s.Occupant
			}
		}
		if s.Part.Voluntary() && s.Block != nil && s.Len() > l.blockNS {
			l.block, l.blockNS = s.Block, s.Len()
		}
	})
	l.times[part.Unknown] += int64(to-from) - l.times.Sum()
	return l
}

// busyWith returns the request that thread tid worked on for longest in
// [from, to), and which step of it; or -1.
func (a *accountant) busyWith(tid int32, from, to Time) (req int32, step int16) {
	req = -1
	l := a.lanes[tid]
	if l == nil {
		return req, step
	}
	most := int64(0)
	look := func(list []piece) {
		for i := range list {
			p := &list[i]
			if p.mode != modeActive {
				continue
			}
			if ns := int64(min(p.end, to) - max(p.start, from)); ns > most {
				req, step, most = p.req, p.step, ns
			}
		}
	}
	look(l.open)
	// Pieces that were closed lately, and those that have begun since.
	look(l.pieces[max(0, l.next-nearPieces):min(len(l.pieces), l.next+nearPieces)])
	return req, step
}

// nearPieces bounds how far around the present busyWith looks.
const nearPieces = 64
