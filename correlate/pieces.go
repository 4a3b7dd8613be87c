package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// mode says how a stretch of a request is related to the thread's state.
type mode uint8

const (
	modeActive    mode = iota // the thread works on the request
	modeSuspended             // the request has left the thread
	modeBefore                // of a joined row: sent, the window not yet begun
	modeAfter                 // of a joined row: the window ended, not yet received
	modeOther                 // waiting while the thread is in another request
)

// piece is a stretch of one request on one thread. The pieces of a request
// cover it without overlap, but for threads that are not known.
type piece struct {
	start, end Time
	req        int32
	other      int32 // modeOther: the request that the thread is in
	waits      mode  // modeOther: why the request does
	step       int16
	mode       mode
}

// lanes are the pieces of all requests by thread.
type lanes map[int32][]piece

// cutter cuts one request into pieces.
type cutter struct {
	r     *Request
	index int32
	group *Group
	out   lanes

	at      Time
	tid     int32
	mode    mode
	pending []pendingPiece // since the last mark: their step is not known yet
}

type pendingPiece struct {
	tid int32
	p   piece
}

// cut adds r's pieces to out. handedOver reports that the window ends in
// another thread than it says.
func cut(r *Request, index int32, g *Group, out lanes) (handedOver bool) {
	w := r.Window
	if w == nil || w.Tid == 0 {
		return false
	}
	c := &cutter{r: r, index: index, group: g, out: out, at: r.Begin, tid: w.Tid, mode: modeBefore}
	c.upTo(w.Begin)
	if len(c.pending) > 0 {
		c.mark(stepBefore)
	}
	c.at, c.mode = max(c.at, w.Begin), modeActive
	for i := range w.Points {
		if w.Points[i].Offset > int64(w.End-w.Begin) {
			break // not of this window, whatever it is
		}
		c.point(&w.Points[i])
	}
	c.upTo(w.End)
	c.mark(stepRest)
	handedOver = c.tid != w.EndTid && w.EndTid != 0
	if handedOver {
		c.tid = w.EndTid
	}
	c.mode = modeAfter
	c.upTo(r.End)
	if len(c.pending) > 0 {
		c.mark(stepAfter)
	}
	return handedOver
}

func (c *cutter) point(p *eventfile.Point) {
	c.upTo(c.r.Window.Begin.Add(p.Offset))
	switch p.Type {
	case eventfile.PointMark:
		c.mark(p.Name)
	case eventfile.PointSuspend:
		c.mode = modeSuspended
	case eventfile.PointResume:
		c.mode = modeActive
	case eventfile.PointThread:
		if p.Tid != 0 {
			c.tid = p.Tid
		}
	}
}

// upTo makes the piece from where the cutter stands to t.
func (c *cutter) upTo(t Time) {
	t = min(t, c.r.End)
	if start := max(c.at, c.r.Begin); t > start {
		c.pending = append(c.pending, pendingPiece{c.tid, piece{start: start, end: t, req: c.index, mode: c.mode, other: -1}})
	}
	c.at = max(c.at, t)
}

// mark gives what has come since the last mark to the step that ends here.
func (c *cutter) mark(name string) {
	if name == stepRest && len(c.pending) == 0 {
		return
	}
	step := c.group.step(name)
	c.r.addStep(step, 0)
	for _, p := range c.pending {
		p.p.step = step
		c.out[p.tid] = append(c.out[p.tid], p.p)
	}
	c.pending = c.pending[:0]
}

// finish orders each thread's pieces, and splits those in which the request
// waits by what else the thread was in then. shared is the number of requests
// that overlap another one in the same thread.
func (l lanes) finish() (shared int) {
	byStart := func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.req, b.req))
	}
	for tid, list := range l {
		slices.SortFunc(list, byStart)
		busy, n := activeUnion(list)
		shared += n
		var out []piece
		for _, p := range list {
			if p.mode == modeSuspended || p.mode == modeBefore {
				out = p.split(busy, out)
			} else {
				out = append(out, p)
			}
		}
		slices.SortFunc(out, byStart)
		l[tid] = out
	}
	return shared
}

// activeUnion returns the stretches in which the thread works on a request,
// without overlap, and how many requests overlap an earlier one.
func activeUnion(list []piece) (busy []piece, shared int) {
	last := int32(-1)
	for _, p := range list {
		if p.mode != modeActive {
			continue
		}
		n := len(busy)
		if n == 0 || p.start >= busy[n-1].end {
			busy = append(busy, p)
			continue
		}
		if p.req != busy[n-1].req && p.req != last {
			shared++
			last = p.req
		}
		if p.end > busy[n-1].end {
			p.start = busy[n-1].end
			busy = append(busy, p)
		}
	}
	return busy, shared
}

// split appends p to out, cut where the thread was in another request.
func (p piece) split(busy, out []piece) []piece {
	i, _ := slices.BinarySearchFunc(busy, p.start, func(b piece, t Time) int { return cmp.Compare(b.end, t) })
	for ; i < len(busy) && busy[i].start < p.end && p.start < p.end; i++ {
		b := &busy[i]
		if b.req == p.req {
			continue
		}
		if b.start > p.start {
			idle := p
			idle.end = b.start
			out = append(out, idle)
			p.start = b.start
		}
		in := p
		in.end, in.mode, in.waits, in.other = min(p.end, b.end), modeOther, p.mode, b.req
		if in.end > in.start {
			out = append(out, in)
		}
		p.start = max(p.start, in.end)
	}
	if p.start < p.end {
		out = append(out, p)
	}
	return out
}
