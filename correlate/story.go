package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// story keeps what evidence needs of one request: who, what and for how long.
type story struct {
	occupants map[occupantKey]int64 // ns
	spans     map[spanKey]*tally
	blocks    []blocked
	links     []link
	others    map[int32]int64 // ns in which the thread was in another request
	before    int64           // ns of part Client before the window, and after it
	after     int64
	moments   []Moment // nil unless the request is to be told in full
	full      bool
	places    *places
}

type occupantKey struct {
	part part.Part
	task timeline.Ref
}

type spanKey struct {
	kind  eventfile.Kind
	id    uint32
	major bool
	at    place // of a fault
}

type tally struct {
	ns    int64
	count int64
}

// blocked is one wait, with the time of it that fell to the request.
type blocked struct {
	block *timeline.Block
	part  part.Part
	ns    int64
}

// Moment is a stretch of a request's story, in time order.
type Moment struct {
	Start, End Time
	Part       part.Part
	Step       int16
	Tid, Pid   int32
	CPU        int32
	Occupant   timeline.Ref
	Block      *timeline.Block
	Span       timeline.Span
	Other      int32 // the request that the thread was in, or -1
}

// Bounds on what one request may keep; a request with more is told in part.
const (
	maxBlocks  = 256
	maxMoments = 4096
)

func newStory(full bool, p *places) *story {
	return &story{occupants: map[occupantKey]int64{}, spans: map[spanKey]*tally{}, others: map[int32]int64{}, full: full, places: p}
}

func (st *story) add(p *piece, from, to Time, what part.Part, s *timeline.Segment) {
	ns := int64(to - from)
	switch {
	case what == part.OtherRequest:
		st.others[p.other] += ns
	case what == part.Client && p.mode == modeBefore:
		st.before += ns
	case what == part.Client:
		st.after += ns
	case what.Waiting():
		st.occupants[occupantKey{what, s.Occupant}] += ns
	}
	if s.Span != nil && what == s.Part {
		st.addSpan(s, ns, to)
	}
	if s.Block != nil && what != part.OtherRequest {
		st.addBlock(s.Block, what, ns)
	}
	if st.full && len(st.moments) < maxMoments {
		st.addMoment(p, from, to, what, s)
	}
}

func (st *story) addSpan(g *timeline.Segment, ns int64, to Time) {
	s := g.Span
	k := spanKey{kind: s.Kind, id: s.ID, major: s.Flags&eventfile.FlagMajor != 0}
	if s.Kind == eventfile.KindFault {
		k.at = st.places.at(g.Pid, s.Addr, s.Start)
	}
	if st.spans[k] == nil {
		st.spans[k] = &tally{}
	}
	st.spans[k].ns += ns
	if to == s.End && counts(s) { // what nests in a span splits it
		st.spans[k].count++
	}
}

// counts reports whether a span is one of its kind: not a part of one that
// goes on, nor the call of a handler that shares an interrupt line with the
// device that raised it.
func counts(s *timeline.Span) bool {
	if s.Kind == eventfile.KindIRQ && s.Flags&eventfile.FlagHandled == 0 {
		return false
	}
	return s.Flags&eventfile.FlagCut == 0
}

func (st *story) addBlock(b *timeline.Block, what part.Part, ns int64) {
	if n := len(st.blocks); n > 0 && st.blocks[n-1].block == b && st.blocks[n-1].part == what {
		st.blocks[n-1].ns += ns
		return
	}
	if len(st.blocks) < maxBlocks {
		st.blocks = append(st.blocks, blocked{b, what, ns})
	}
}

func (st *story) addMoment(p *piece, from, to Time, what part.Part, s *timeline.Segment) {
	m := Moment{
		Start: from, End: to, Part: what, Step: p.step, Tid: s.Tid, Pid: s.Pid, CPU: s.CPU,
		Occupant: s.Occupant, Block: s.Block, Other: p.other,
	}
	if s.Span != nil {
		m.Span = *s.Span
	}
	if n := len(st.moments); n > 0 && what == part.Running {
		if last := &st.moments[n-1]; last.Part == what && last.End == from && last.Step == p.step {
			last.End = to
			return
		}
	}
	st.moments = append(st.moments, m)
}
