package correlate

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

const us = 1000 // ns

const (
	svcTid  = 100
	hogTid  = 200
	lockTid = 101
)

// scenario records a service that answers one request at a time on CPU 0. A
// request takes 1000 us in three steps, is sent 20 us before its window begins
// and received 30 us after it ends; the thread waits in epoll between them.
type scenario struct {
	t       *testing.T
	now     Time
	events  []eventfile.Event
	windows []eventfile.Window
	rows    []rows.Row
	meta    []any
	header  eventfile.Header
	pmu     testPMU
}

func newScenario(t *testing.T) *scenario {
	s := &scenario{t: t, now: 1e9}
	s.header = eventfile.Header{Tool: "test", Started: s.now, FaultTrap: -1, CPUs: []int32{0, 1}}
	for _, e := range []eventfile.Event{
		{Tid: svcTid, Tgid: svcTid, Comm: "scorer", Flags: eventfile.FlagTarget, Start: 1},
		{Tid: lockTid, Tgid: svcTid, Comm: "worker", Flags: eventfile.FlagTarget, Start: 2},
		{Tid: hogTid, Tgid: hogTid, Comm: "hog"},
	} {
		e.Kind, e.Time = eventfile.KindTask, s.now
		s.events = append(s.events, e)
	}
	for nr, name := range map[uint32]string{232: "epoll_wait", 202: "futex", 35: "nanosleep", 74: "fsync", 45: "recvfrom"} {
		s.meta = append(s.meta, &eventfile.Name{Class: "syscall", ID: nr, Name: name})
	}
	s.switchIn(0)
	s.block(232)
	return s
}

func (s *scenario) add(e eventfile.Event) {
	e.Time = s.now
	if e.Kind == eventfile.KindSwitch && e.Syscall == 0 {
		e.Syscall = eventfile.NoSyscall
	}
	if e.Kind == eventfile.KindSwitch {
		s.pmu.see(s, &e)
	}
	s.events = append(s.events, e)
}

func (s *scenario) run(d int64) {
	s.now += Time(d)
	s.pmu.run(d)
}

func (s *scenario) switchIn(prev int32) {
	s.add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: prev, Peer: svcTid})
}

func (s *scenario) block(nr int32) {
	s.add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: svcTid, State: eventfile.StateInterruptible, Syscall: nr, Args: [3]uint64{9, 9, 9}})
}

// offCPU has the thread block in a system call for d.
func (s *scenario) offCPU(nr int32, d int64, waker int32, flags eventfile.Flags) {
	s.block(nr)
	s.run(d)
	s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Peer: waker, Flags: flags})
	s.switchIn(0)
}

// preempted has the hog take the CPU for d.
func (s *scenario) preempted(d int64) {
	s.add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: svcTid, Peer: hogTid, Flags: eventfile.FlagPreempt})
	s.run(d)
	s.switchIn(hogTid)
}

func (s *scenario) span(kind eventfile.Kind, id uint32, d int64) {
	s.run(d)
	s.add(eventfile.Event{Kind: kind, Tid: svcTid, Dur: d, ID: id})
}

// request serves one request. steps are the running times of its three steps,
// us; inside runs in the middle of the second.
func (s *scenario) request(steps [3]int64, inside func()) {
	id := uint64(len(s.rows) + 1)
	row := rows.Row{ID: rows.NumberID(id), HasID: true, Send: int64(s.now), Status: 200}
	s.run(10 * us)
	s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Peer: 0, Flags: eventfile.FlagSoftirq})
	s.switchIn(0)
	s.run(10 * us)
	w := eventfile.Window{Kind: "score", ID: rows.NumberID(id), Begin: s.now, Pid: svcTid, Tid: svcTid, EndTid: svcTid}
	for i, name := range []string{"read", "predict", "serialize"} {
		s.run(steps[i] * us / 2)
		if i == 1 && inside != nil {
			inside()
		}
		s.run(steps[i] * us / 2)
		w.Points = append(w.Points, eventfile.Point{Type: eventfile.PointMark, Offset: int64(s.now - w.Begin), Name: name})
	}
	w.End = s.now
	s.windows = append(s.windows, w)
	s.run(10 * us)
	s.block(232)
	s.run(20 * us)
	row.Recv = int64(s.now)
	s.rows = append(s.rows, row)
	s.run(100 * us)
}

var normalSteps = [3]int64{100, 700, 200}

// normal serves n requests that differ by a little.
func (s *scenario) normal(n int) {
	for i := range n {
		steps := normalSteps
		steps[1] += int64(i % 7)
		s.request(steps, nil)
	}
}

// opener writes the recording; times of events are what they are.
func (s *scenario) opener() Opener {
	s.t.Helper()
	var buf bytes.Buffer
	w, err := eventfile.NewWriter(&buf, &s.header)
	must := func(err error) {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	must(err)
	slices.SortStableFunc(s.events, func(a, b eventfile.Event) int { return cmp.Compare(a.Time, b.Time) })
	for i := range s.events {
		must(w.Event(&s.events[i]))
	}
	for i := range s.windows {
		must(w.Window(&s.windows[i]))
	}
	for _, m := range s.meta {
		switch m := m.(type) {
		case *eventfile.Name:
			must(w.Name(m))
		case *eventfile.Loss:
			must(w.Loss(m))
		case *eventfile.BoxSample:
			must(w.Box(m))
		case *eventfile.Window:
			must(w.Window(m))
		case *eventfile.Proc:
			must(w.Proc(m))
		case *eventfile.Stack:
			must(w.Stack(m))
		case *eventfile.Mapping:
			must(w.Mapping(m))
		case *eventfile.Fd:
			must(w.Fd(m))
		}
	}
	must(w.Close(&eventfile.End{Time: s.now, Reason: "test"}))
	return func() (*eventfile.Reader, error) { return eventfile.NewReader(bytes.NewReader(buf.Bytes())) }
}

// analyze joins with the rows and returns the result.
func (s *scenario) analyze() *Result {
	s.t.Helper()
	set := &rows.Set{Name: "rows", Rows: s.rows}
	res, err := Analyze(s.opener(), []*rows.Set{set}, Options{Tail: 0.01})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range res.Requests {
		if got := r.Parts.Sum(); got != r.Latency() {
			s.t.Errorf("request %s: parts sum to %d of %d", r.Label(), got, r.Latency())
		}
		for p, ns := range r.Parts {
			if ns < 0 {
				s.t.Errorf("request %s: %s is %d ns", r.Label(), part.Part(p), ns)
			}
		}
	}
	return res
}

// one analyzes a run in which exactly one of 100 requests is in the tail.
func (s *scenario) one() (*Request, Explanation, *Result) {
	s.t.Helper()
	res := s.analyze()
	for _, r := range res.Requests {
		if r.Tail {
			return r, res.Explain(r), res
		}
	}
	s.t.Fatal("no request is in the tail")
	return nil, Explanation{}, nil
}
