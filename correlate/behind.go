package correlate

import (
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// behind is what a waiting request has seen of other requests on its thread
// since it was sent or suspended. Whether they have delayed it shows later: a
// thread that comes to rest in a poll has done all that it could do, so what
// this request waits for has yet to come.
type behind struct {
	mode   mode // modeBefore or modeSuspended
	since  Time
	others []behindOne
}

type behindOne struct {
	req int32
	ns  int64
}

// queue keeps l.behind while the stretch [from, to) of p is booked, and takes
// back what has not been queueing.
func (a *accountant) queue(l *lane, p *piece, from, to Time, s *timeline.Segment) {
	b := l.behind[p.req]
	switch {
	case p.mode == modeOther:
		if b == nil || b.mode != p.waits {
			b = &behind{mode: p.waits, since: from}
			l.behind[p.req] = b
		}
		b.add(p.other, int64(to-from))
	case b != nil && b.mode == p.mode && s.Part == part.Net:
		a.reqs[p.req].notQueued(b, s.Tid, requestPart(p.mode, s.Part))
		delete(l.behind, p.req)
	}
}

func (b *behind) add(req int32, ns int64) {
	if n := len(b.others); n > 0 && b.others[n-1].req == req {
		b.others[n-1].ns += ns
		return
	}
	b.others = append(b.others, behindOne{req, ns})
}

// notQueued books the time behind others to what r really waited for.
func (r *Request) notQueued(b *behind, tid int32, what part.Part) {
	for _, o := range b.others {
		r.Parts[part.OtherRequest] -= o.ns
		r.Parts[what] += o.ns
	}
	if r.story != nil {
		r.story.notQueued(b, tid, what)
	}
}

func (st *story) notQueued(b *behind, tid int32, what part.Part) {
	for _, o := range b.others {
		st.others[o.req] -= o.ns
		if what == part.Client {
			st.before += o.ns
		}
	}
	for i := len(st.moments) - 1; i >= 0; i-- {
		m := &st.moments[i]
		if m.Tid == tid && m.Start < b.since {
			return
		}
		if m.Tid == tid && m.Part == part.OtherRequest {
			m.Part = what
		}
	}
}
