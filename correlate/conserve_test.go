package correlate

import (
	"math/rand/v2"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// source draws small numbers from bytes, and zeros when they have run out, so
// that a fuzzer's bytes steer what is built.
type source struct {
	data []byte
}

func (s *source) n(limit int) int {
	if len(s.data) == 0 {
		return 0
	}
	v := int(s.data[0])
	s.data = s.data[1:]
	if limit > 256 && len(s.data) > 0 {
		v |= int(s.data[0]) << 8
		s.data = s.data[1:]
	}
	return v % limit
}

const (
	threads  = 3
	timeSpan = 2000 // ns: small, so that a brute-force check can go by the nanosecond
)

func randomRequests(s *source) []*Request {
	var reqs []*Request
	for range 1 + s.n(8) {
		w := &eventfile.Window{Kind: "score", Begin: Time(s.n(timeSpan))}
		w.End = w.Begin.Add(int64(s.n(600)))
		w.Tid = int32(1 + s.n(threads))
		w.EndTid = w.Tid
		var offset int64
		for range s.n(6) {
			offset += int64(s.n(200))
			p := eventfile.Point{Type: eventfile.PointType(1 + s.n(4)), Offset: offset, Name: string(rune('a' + s.n(3)))}
			if p.Type == eventfile.PointThread {
				p.Tid = int32(s.n(threads + 1))
			}
			w.Points = append(w.Points, p)
		}
		r := &Request{Begin: w.Begin, End: w.End}
		if s.n(2) == 0 { // as joined to a row, which may even begin inside the window
			r.Begin, r.End = r.Begin.Add(int64(50-s.n(100))), r.End.Add(int64(s.n(100)-20))
			r.End = max(r.Begin, r.End)
		}
		r.setWindow(w)
		reqs = append(reqs, r)
	}
	return reqs
}

func randomEvents(s *source) []eventfile.Event {
	var list []eventfile.Event
	for tid := int32(1); tid <= threads; tid++ {
		list = append(list, eventfile.Event{Kind: eventfile.KindTask, Tid: tid, Tgid: 1, Flags: eventfile.FlagTarget, Start: 1})
	}
	now := 0
	for len(s.data) > 0 {
		now += s.n(40) - 2 // a step back now and then
		e := eventfile.Event{
			Kind: eventfile.Kind(1 + s.n(14)), Time: Time(now), CPU: int32(s.n(2)), Tid: int32(s.n(threads + 2)), Peer: int32(s.n(threads + 2)),
			Dur: int64(s.n(60) - 3), State: []uint32{0, 1, 2, 4, 0x80}[s.n(5)], DestCPU: int32(s.n(2)), Syscall: int32(s.n(4) - 1),
			Flags: eventfile.Flags(1 << s.n(14)), ID: uint32(s.n(10)), Start: uint64(s.n(2)), Tgid: 1,
		}
		if s.n(8) == 0 {
			e.FaultStart = e.Time.Add(-int64(s.n(50)))
		}
		list = append(list, e)
	}
	return list
}

func randomLosses(s *source) []eventfile.Loss {
	var list []eventfile.Loss
	for range s.n(3) {
		first := Time(1 + s.n(timeSpan))
		list = append(list, eventfile.Loss{Source: eventfile.LossRing, CPU: int32(s.n(3) - 1), Count: 1, First: first, Last: first.Add(int64(s.n(50)))})
	}
	return list
}

// conserve builds requests and events from data, accounts for them, and checks
// what must always hold.
func conserve(t *testing.T, data []byte) {
	t.Helper()
	s := &source{data: data}
	reqs, losses := randomRequests(s), randomLosses(s)
	events := randomEvents(s)
	gs, pieces := groups{}, lanes{}
	for i, r := range reqs {
		r.group = gs.of(r)
		r.story = newStory(true, nil)
		cut(r, int32(i), r.group, pieces)
	}
	pieces.finish()
	acc := newAccountant(reqs, pieces)
	states := map[int32]map[Time]part.Part{}
	last := map[int32]Time{}
	b := timeline.New(func(g *timeline.Segment) {
		if g.End <= g.Start || g.Start < last[g.Tid] {
			t.Fatalf("thread %d: segment %d..%d after %d", g.Tid, g.Start, g.End, last[g.Tid])
		}
		last[g.Tid] = g.End
		if states[g.Tid] == nil {
			states[g.Tid] = map[Time]part.Part{}
		}
		for at := g.Start; at < g.End; at++ {
			states[g.Tid][at] = g.Part
		}
		acc.segment(g)
	}, timeline.NewLosses(losses), func(nr int32) string { return "futex" })
	for i := range events {
		b.Add(&events[i])
	}
	b.Finish(timeSpan + 1000)
	acc.settle()
	for i, r := range reqs {
		checkSums(t, r)
		if want := bruteForce(reqs, i, states); want != r.Parts {
			t.Fatalf("request %d: parts %v, by the nanosecond %v", i, r.Parts, want)
		}
	}
}

func checkSums(t *testing.T, r *Request) {
	t.Helper()
	for p, ns := range r.Parts {
		if ns < 0 {
			t.Fatalf("part %s is %d ns", part.Part(p), ns)
		}
	}
	if got := r.Parts.Sum(); got != r.Latency() {
		t.Fatalf("parts sum to %d ns of %d: %v", got, r.Latency(), r.Parts)
	}
	var steps int64
	for _, ns := range r.Steps {
		steps += max(ns, 0)
	}
	if steps != r.Parts[part.Running] {
		t.Fatalf("steps sum to %d ns of %d running", steps, r.Parts[part.Running])
	}
	var told int64
	for i, m := range r.story.moments {
		if i > 0 && m.Start < r.story.moments[i-1].End && m.Tid == r.story.moments[i-1].Tid {
			t.Fatalf("moments overlap: %v", r.story.moments[i-1:i+1])
		}
		told += int64(m.End - m.Start)
	}
	if want := r.Latency() - r.Parts[part.Unknown]; told > want+r.Parts[part.Unknown] {
		t.Fatalf("the story tells %d ns of %d", told, want)
	}
}

// bruteForce accounts for a request one nanosecond at a time, from the threads'
// states and the rules alone.
func bruteForce(reqs []*Request, index int, states map[int32]map[Time]part.Part) (out part.Times) {
	r := reqs[index]
	for at := r.Begin; at < r.End; at++ {
		mode, tid := where(r, at)
		if mode == modeBefore || mode == modeSuspended {
			for j, o := range reqs {
				if m, otid := where(o, at); j != index && m == modeActive && otid == tid && tid != 0 && at >= o.Begin && at < o.End {
					mode = modeOther
				}
			}
		}
		p, ok := states[tid][at]
		switch {
		case !ok || tid == 0:
			out[part.Unknown]++
		default:
			out[requestPart(mode, p)]++
		}
	}
	return out
}

// where says in which mode and on which thread a request is at one moment.
func where(r *Request, at Time) (mode, int32) {
	w := r.Window
	switch {
	case at < w.Begin:
		return modeBefore, w.Tid
	case at >= w.End:
		return modeAfter, threadAt(w, w.End)
	}
	m := modeActive
	for _, p := range w.Points {
		if w.Begin.Add(p.Offset) > at {
			break
		}
		switch p.Type {
		case eventfile.PointSuspend:
			m = modeSuspended
		case eventfile.PointResume:
			m = modeActive
		}
	}
	return m, threadAt(w, at)
}

func threadAt(w *eventfile.Window, at Time) int32 {
	tid := w.Tid
	for _, p := range w.Points {
		if w.Begin.Add(p.Offset) > at {
			break
		}
		if p.Type == eventfile.PointThread && p.Tid != 0 {
			tid = p.Tid
		}
	}
	if at >= w.End && w.EndTid != 0 && tid != w.EndTid {
		tid = w.EndTid
	}
	return tid
}

func TestPartsSumExactlyOnRandomStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := make([]byte, 20+rng.IntN(800))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		conserve(t, data)
	}
}

func FuzzConservation(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		data := make([]byte, 400)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { conserve(t, data) })
}
