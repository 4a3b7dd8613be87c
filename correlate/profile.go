package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// A Side says which half of a Profile a request is in.
type Side uint8

const (
	SideNone Side = iota
	SideOf        // the requests that are asked about
	SideRest      // those that they are compared with
)

// Profile is in which calls the threads of two sets of requests were, while
// they worked on them. By stack id; id 0 is of stacks that were not taken.
type Profile struct {
	Of, Rest Stacks
}

// Stacks are the stacks of one set of requests.
type Stacks struct {
	Requests int
	CPU      map[uint64]int64 // clock samples
	Off      map[uint64]Wait  // blocked, as far as it fell into the requests
}

// Wait is time off the CPU.
type Wait struct {
	N  int64 // waits
	Ns int64
}

// OnlyUnknownWaits reports that there were waits, and not one had a stack.
func (p *Profile) OnlyUnknownWaits() bool {
	waits := 0
	for _, s := range []*Stacks{&p.Of, &p.Rest} {
		for id := range s.Off {
			if id != 0 {
				return false
			}
			waits++
		}
	}
	return waits > 0
}

// Stack returns the calls behind an id, or nil.
func (rec *Recording) Stack(id uint64) *eventfile.Stack { return rec.stacks[id] }

// HasStacks reports whether any stack was recorded.
func (rec *Recording) HasStacks() bool { return len(rec.stacks) > 0 }

// addStack keeps the first of a stack that was written more than once.
func (rec *Recording) addStack(s *eventfile.Stack) {
	if rec.stacks[s.ID] == nil {
		rec.stacks[s.ID] = s
	}
}

// profiler fills a Profile while events stream by.
type profiler struct {
	sides []Side // by request
	lanes map[int32]*lane
	out   *Profile
}

func newProfiler(reqs []*Request, l lanes, side func(*Request) Side) *profiler {
	p := &profiler{lanes: map[int32]*lane{}, out: &Profile{}}
	for _, s := range []*Stacks{&p.out.Of, &p.out.Rest} {
		s.CPU, s.Off = map[uint64]int64{}, map[uint64]Wait{}
	}
	for _, r := range reqs {
		s := side(r)
		p.sides = append(p.sides, s)
		if to := p.to(s); to != nil {
			to.Requests++
		}
	}
	for tid, pieces := range l {
		p.lanes[tid] = &lane{pieces: pieces}
	}
	return p
}

func (p *profiler) to(s Side) *Stacks {
	switch s {
	case SideOf:
		return &p.out.Of
	case SideRest:
		return &p.out.Rest
	}
	return nil
}

// side returns where what happens in a piece counts, nil for nowhere: only
// what the thread does for the request counts.
func (p *profiler) side(at *piece) *Stacks {
	if at.mode != modeActive || int(at.req) >= len(p.sides) {
		return nil
	}
	return p.to(p.sides[at.req])
}

// sample takes a clock sample; those of a thread come in time order.
func (p *profiler) sample(e *eventfile.Event) {
	l := p.lanes[e.Tid]
	if l == nil {
		return
	}
	l.at(e.Time, func(at *piece) {
		if to := p.side(at); to != nil {
			to.CPU[e.Stack]++
		}
	})
}

// wait takes the part [from, to) of a segment that lies in a piece.
func (p *profiler) wait(at *piece, from, to Time, s *timeline.Segment) {
	if s.Block == nil || s.Part == part.Waking {
		return
	}
	side := p.side(at)
	if side == nil {
		return
	}
	w := side.Off[s.Block.Stack]
	w.Ns += int64(to - from)
	if to == s.End { // steps split a wait
		w.N++
	}
	side.Off[s.Block.Stack] = w
}
