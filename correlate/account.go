package correlate

import (
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// accountant lays each thread's segments over the pieces of the requests.
type accountant struct {
	reqs    []*Request
	lanes   map[int32]*lane
	builder *timeline.Builder // remembers what other threads did
	late    lateStacks        // and in which calls
	profile *profiler         // nil: none is wanted
}

// lane walks one thread's pieces along with its segments.
type lane struct {
	pieces []piece // by start; those before next have been opened
	next   int
	open   []piece
	stay   Time              // the start of the last stay on the CPU that a request had
	behind map[int32]*behind // by request that waits
}

// begin opens the pieces that start before t. Times must not step back.
func (l *lane) begin(t Time) {
	for l.next < len(l.pieces) && l.pieces[l.next].start < t {
		l.open = append(l.open, l.pieces[l.next])
		l.next++
	}
}

// overlap returns the pieces that [from, to) overlaps. Times must not step
// back.
func (l *lane) overlap(from, to Time) []piece {
	l.begin(to)
	l.open = slices.DeleteFunc(l.open, func(p piece) bool { return p.end <= from })
	return l.open
}

// at visits the pieces that t lies in. Times must not step back.
func (l *lane) at(t Time, visit func(*piece)) {
	open := l.overlap(t, t+1)
	for i := range open {
		visit(&open[i])
	}
}

func newAccountant(reqs []*Request, l lanes) *accountant {
	a := &accountant{reqs: reqs, lanes: map[int32]*lane{}, late: lateStacks{}}
	for tid, p := range l {
		a.lanes[tid] = &lane{pieces: p, behind: map[int32]*behind{}}
	}
	return a
}

// segment books s to every request that it overlaps.
func (a *accountant) segment(s *timeline.Segment) {
	l := a.lanes[s.Tid]
	if l == nil {
		return
	}
	l.begin(s.End)
	keep := l.open[:0]
	isNewStay := s.Part.OnCPU() && s.Since != l.stay
	for _, p := range l.open {
		if p.mode == modeActive && len(l.behind) > 0 {
			delete(l.behind, p.req)
		}
		if from, to := max(p.start, s.Start), min(p.end, s.End); from < to {
			a.book(&p, from, to, s)
			a.queue(l, &p, from, to, s)
			if isNewStay && p.mode != modeOther {
				a.reqs[p.req].beginStay(s)
				l.stay = s.Since
			}
		}
		if p.end > s.End {
			keep = append(keep, p)
		}
	}
	l.open = keep
}

// beginStay books what a stay on the CPU began with to the first request in it.
func (r *Request) beginStay(s *timeline.Segment) {
	if r.stay != s.Since {
		r.foreign += s.Foreign
		r.stay = s.Since
	}
}

func (a *accountant) book(p *piece, from, to Time, s *timeline.Segment) {
	r := a.reqs[p.req]
	what := requestPart(p.mode, s.Part)
	ns := int64(to - from)
	r.Parts[what] += ns
	if what == part.Running {
		r.addStep(p.step, ns)
	}
	if s.Part.OnCPU() {
		r.box.cpu = s.CPU
	}
	if s.Span != nil && s.Span.Kind == eventfile.KindFault && what == part.Fault && to == s.Span.End && s.Span.Flags&eventfile.FlagCut == 0 {
		if s.Span.Flags&eventfile.FlagMajor != 0 {
			r.MajorFaults++
		} else {
			r.MinorFaults++
		}
	}
	if a.profile != nil {
		a.profile.wait(p, from, to, s)
	}
	if r.story != nil {
		r.story.add(p, from, to, what, s)
		if p.mode == modeActive && a.builder != nil {
			a.follow(r.story, s)
		}
	}
}

// requestPart says what the thread's state is to a request. Inside the window
// it is the request's own. Outside of it, and while the request has left the
// thread, what keeps the thread from running still delays the request; what
// the thread waits for by its own will, or does for itself, does not.
func requestPart(m mode, p part.Part) part.Part {
	switch m {
	case modeOther:
		return part.OtherRequest
	case modeBefore, modeAfter:
		if p.Voluntary() {
			return part.Client
		}
	case modeSuspended:
		if p.Voluntary() || p.OnCPU() || p == part.FaultIO {
			return part.Await
		}
	}
	return p
}

func (a *accountant) sample(e *eventfile.Event) {
	a.late.add(e)
	if a.profile != nil {
		a.profile.sample(e)
	}
}

// settle books what no segment has covered as unknown, so that the parts of
// every request sum to its length.
func (a *accountant) settle() {
	for _, r := range a.reqs {
		r.Parts[part.Unknown] += r.Latency() - r.Parts.Sum()
	}
}
