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
	timeSpan = 2000 // units: few, so that a brute-force check can go one by one
)

// stretch multiplies all times by unit, so that waits become long enough for
// what only long ones bring about, and the brute-force check stays short.
func (c *fuzzCase) stretch() {
	grow := func(times ...*Time) {
		for _, t := range times {
			*t *= c.unit
		}
	}
	for _, r := range c.reqs {
		grow(&r.Begin, &r.End, &r.Window.Begin, &r.Window.End)
		for i := range r.Window.Points {
			r.Window.Points[i].Offset *= int64(c.unit)
		}
	}
	for i := range c.events {
		e := &c.events[i]
		grow(&e.Time, &e.FaultStart)
		e.Dur *= int64(c.unit)
	}
	for i := range c.losses {
		grow(&c.losses[i].First, &c.losses[i].Last)
	}
}

// fuzzCase is what is made of a fuzzer's bytes.
type fuzzCase struct {
	unit   Time // ns
	quota  int64
	reqs   []*Request
	losses []eventfile.Loss
	events []eventfile.Event
}

func newFuzzCase(data []byte) *fuzzCase {
	s := &source{data: data}
	c := &fuzzCase{unit: []Time{1, 1000, 20_000}[s.n(3)], quota: int64(20_000 * s.n(400))}
	c.reqs, c.losses = randomRequests(s), randomLosses(s)
	c.events = randomEvents(s)
	c.stretch()
	return c
}

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
		if s.n(4) == 0 {
			list = append(list, randomStay(s, &now)...)
		}
	}
	return list
}

// randomStay is what random events hardly ever are: a thread that gets a CPU,
// has spans that nest and overlap as they should and should not, blocks inside
// a page fault, moves, comes back, perhaps several times, and ends the fault.
func randomStay(s *source, now *int) []eventfile.Event {
	var list []eventfile.Event
	tid, cpu := int32(1+s.n(threads)), int32(s.n(2))
	add := func(e eventfile.Event) {
		e.Time, e.CPU = Time(*now), cpu
		list = append(list, e)
	}
	spans := func() {
		for range s.n(5) {
			*now += s.n(20)
			add(eventfile.Event{
				Kind: []eventfile.Kind{eventfile.KindIRQ, eventfile.KindSoftirq, eventfile.KindVector, eventfile.KindNMI, eventfile.KindFault}[s.n(5)],
				Tid:  tid, Dur: int64(s.n(60)), ID: uint32(s.n(3)), Addr: uint64(s.n(3)) << 12, Flags: eventfile.Flags(1 << s.n(14)),
			})
		}
	}
	add(eventfile.Event{Kind: eventfile.KindSwitch, Peer: tid, Syscall: eventfile.NoSyscall, Dur: int64(s.n(300))})
	in := *now
	spans()
	fault := Time(*now)
	for range 1 + s.n(3) {
		*now += s.n(10)
		out := eventfile.Event{
			Kind: eventfile.KindSwitch, Tid: tid, Peer: int32(s.n(threads + 2)), State: uint32(s.n(3)),
			Flags: eventfile.Flags(s.n(2)) * eventfile.FlagThrottled, Owner: int32(s.n(threads + 1)), Syscall: int32(s.n(4) - 1),
		}
		if s.n(2) == 0 {
			out.FaultStart, out.Addr = fault, 1<<12
		}
		add(eventfile.Event{Kind: eventfile.KindCounters, Tid: tid, Dur: int64(*now - in), ID: 1, Counts: [eventfile.Counters]uint64{uint64(*now - in)}})
		add(out)
		*now += s.n(100)
		add(eventfile.Event{Kind: eventfile.KindWaking, Tid: tid, Peer: int32(s.n(threads + 1)), DestCPU: cpu, Flags: eventfile.Flags(s.n(2)) * eventfile.FlagThrottled})
		if s.n(2) == 0 {
			*now += s.n(20)
			cpu = 1 - cpu
			add(eventfile.Event{Kind: eventfile.KindMigrate, Tid: tid, DestCPU: cpu})
		}
		*now += s.n(300)
		add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: int32(s.n(2) * (threads + 1)), Peer: tid, Syscall: eventfile.NoSyscall})
		in = *now
		spans()
	}
	add(eventfile.Event{Kind: eventfile.KindFault, Tid: tid, Dur: int64(Time(*now) - fault), Addr: 1 << 12, Flags: eventfile.FlagMajor})
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
	c := newFuzzCase(data)
	reqs, losses, events := c.reqs, c.losses, c.events
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
		for at := g.Start; at < g.End; at += c.unit {
			states[g.Tid][at] = g.Part
		}
		acc.segment(g)
	}, timeline.NewLosses(losses), func(nr int32) string { return []string{"futex", "epoll_wait"}[nr&1] })
	acc.builder = b
	b.Throttled = func(from, to Time) int64 { return c.quota }
	b.Counted = newStayBook(reqs, pieces).add
	for i := range events {
		b.Add(&events[i])
	}
	b.Finish((timeSpan + 1000) * c.unit)
	acc.settle()
	for i, r := range reqs {
		checkSums(t, r)
		checkCounts(t, r, c.unit)
		if want := bruteForce(reqs, i, states, c.unit); want != r.Parts {
			t.Fatalf("request %d: parts %v, one by one %v", i, r.Parts, want)
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
	checkStory(t, r)
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

// checkCounts: what was counted is of stays that were r's, while it was on the
// CPU, or where nobody knows.
func checkCounts(t *testing.T, r *Request, unit Time) {
	t.Helper()
	c := &r.counted
	onCPU := r.Parts[part.Unknown]
	for p := range part.Count {
		if part.Part(p).OnCPU() {
			onCPU += r.Parts[p]
		}
	}
	if c.own < 0 || c.own > c.ns || c.own > onCPU || float64(c.own) < ownStay*float64(c.ns) {
		t.Fatalf("stays of %d ns, of which %d ns are the request's, which had the CPU for %d ns", c.ns, c.own, onCPU)
	}
	if c.sums[0]*uint64(unit) != uint64(c.ns) { // one a unit of time
		t.Fatalf("%d counted in %d ns", c.sums[0], c.ns)
	}
}

// checkStory holds what evidence is made of against the parts.
func checkStory(t *testing.T, r *Request) {
	t.Helper()
	var spans, waits part.Times
	for k, x := range r.story.spans {
		spans[levelPartOf(k.kind)] += x.ns
	}
	for _, p := range []part.Part{part.IRQ, part.Softirq, part.NMI, part.Fault} {
		if spans[p] != r.Parts[p] {
			t.Fatalf("spans have %d ns of %s, the parts %d", spans[p], p, r.Parts[p])
		}
	}
	for k, ns := range r.story.occupants {
		waits[k.part] += ns
	}
	for _, p := range []part.Part{part.Preempted, part.Waking, part.Throttled} {
		if waits[p] != r.Parts[p] {
			t.Fatalf("occupants have %d ns of %s, the parts %d", waits[p], p, r.Parts[p])
		}
	}
	for i := range r.story.links {
		for p, ns := range r.story.links[i].times {
			if ns < 0 {
				t.Fatalf("a thread waited for was %d ns in %s", ns, part.Part(p))
			}
		}
	}
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
