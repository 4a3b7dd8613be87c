package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// What a CPU counted is known for whole stays of a thread on it, and nothing
// tells which of it falls to which moment. So a stay's counts are a request's
// only where it had the stay to itself: a stay that requests share is in none
// of their figures.
const (
	// ownStay is the share of a stay that must be in the request, and in no
	// other one. The rest is what the thread does for itself, as between the
	// client's receiving the answer and the thread's next wait. It is in the
	// figures, of this request and of those that it is compared with.
	ownStay = 0.9
	// countedTime is the share of a request's time on the CPU that such stays
	// must hold. It has no figures otherwise.
	countedTime = 0.9
	// enoughCounted is of how many normal requests a median is taken at least.
	enoughCounted = 10
)

// counted is what CPUs counted in the stays that a request had to itself.
type counted struct {
	ns   int64 // of these stays
	own  int64 // of that, in the request
	sums [eventfile.Counters]uint64
	set  uint32 // the counters that all of these stays have, as bits
}

// stayBook books stays to the requests that had them.
type stayBook struct {
	reqs  []*Request
	lanes map[int32]*lane
	share map[int32]int64 // ns of the stay at hand, by request
}

func newStayBook(reqs []*Request, l lanes) *stayBook {
	b := &stayBook{reqs: reqs, lanes: map[int32]*lane{}, share: map[int32]int64{}}
	for tid, p := range l {
		b.lanes[tid] = &lane{pieces: p}
	}
	return b
}

func (b *stayBook) add(s *timeline.Stay) {
	l := b.lanes[s.Tid]
	if l == nil {
		return
	}
	open := l.overlap(s.Start, s.End)
	clear(b.share)
	for i := range open {
		if p := &open[i]; p.onThread() {
			b.share[p.req] += overlap(p.start, p.end, s.Start, s.End)
		}
	}
	b.addLate(open, s)
	for req, ns := range b.share {
		if s.Away > 0 { // all of it that can have been in the rest of the stay was there
			b.reqs[req].addAway(s, s.Len()-ns+inOthers(open, req, s))
		}
		if isOwn(ns, s) {
			ns -= inOthers(open, req, s)
		}
		if isOwn(ns, s) {
			b.reqs[req].counted.add(s, ns)
		}
	}
}

func isOwn(ns int64, s *timeline.Stay) bool { return float64(ns) >= ownStay*float64(s.Len()) }

// onThread reports whether what the thread does during p is the request's.
func (p *piece) onThread() bool { return p.mode != modeOther && p.mode != modeSuspended }

// inOthers is for how long in s the thread worked on requests other than req
// while it counts as req's too: req's client was still to receive an answer,
// or the two requests overlap.
func inOthers(open []piece, req int32, s *timeline.Stay) (ns int64) {
	for i := range open {
		if p := &open[i]; p.req == req && p.onThread() {
			ns += p.inOthers(open, s.Start, s.End)
		}
	}
	return ns
}

// inOthers is the same of p alone, from start to end.
func (p *piece) inOthers(open []piece, start, end Time) (ns int64) {
	for i := range open {
		if q := &open[i]; q.req != p.req && q.mode == modeActive {
			ns += overlap(max(p.start, start), min(p.end, end), q.start, q.end)
		}
	}
	return ns
}

func overlap(aStart, aEnd, bStart, bEnd Time) int64 {
	return max(0, int64(min(aEnd, bEnd)-max(aStart, bStart)))
}

func (c *counted) add(s *timeline.Stay, own int64) {
	if c.ns == 0 {
		c.set = s.Counted
	}
	c.set &= s.Counted
	c.ns += s.Len()
	c.own += own
	for i, n := range s.Counts {
		c.sums[i] += n
	}
}

// count returns what was counted in r; ok is false where it was not measured.
func (r *Request) count(c eventfile.Counter) (n float64, ok bool) {
	return float64(r.counted.sums[c]), r.counted.set&(1<<c) != 0 && r.isCounted()
}

func (r *Request) isCounted() bool {
	onCPU := r.Parts.OnCPU() + r.Parts[part.Unknown] // of which nobody knows
	return r.counted.own > 0 && float64(r.counted.own) >= countedTime*float64(onCPU)
}
