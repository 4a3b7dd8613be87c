package correlate

import (
	"slices"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

func TestVerdictOfOneInjectedCause(t *testing.T) {
	const ms = 1000 * us
	tests := map[string]struct {
		steps  [3]int64
		inside func(s *scenario)
		setup  func(s *scenario)
		want   string
		shows  string // a kind of evidence that must be there
		who    string // its name
	}{
		"preempted": {inside: func(s *scenario) { s.preempted(5 * ms) }, want: "preempted", shows: EvidenceOccupant, who: "hog"},
		"lock": {
			inside: func(s *scenario) { s.offCPU(202, 5*ms, lockTid, 0) }, want: "lock", shows: EvidenceWaker, who: "worker",
		},
		"sleep":   {inside: func(s *scenario) { s.offCPU(35, 5*ms, 0, eventfile.FlagHardirq) }, want: "sleep", shows: EvidenceWait, who: "nanosleep"},
		"io":      {inside: func(s *scenario) { s.offCPU(74, 5*ms, 0, eventfile.FlagHardirq) }, want: "io", shows: EvidenceWait, who: "fsync"},
		"net":     {inside: func(s *scenario) { s.offCPU(45, 5*ms, 0, eventfile.FlagSoftirq) }, want: "net", shows: EvidenceWait, who: "recvfrom"},
		"softirq": {inside: func(s *scenario) { s.span(eventfile.KindSoftirq, 3, 5*ms) }, want: "softirq", shows: EvidenceInterrupt, who: "NET_RX"},
		"irq":     {inside: func(s *scenario) { s.span(eventfile.KindVector, 1, 5*ms) }, want: "irq", shows: EvidenceInterrupt, who: "local_timer"},
		"fault":   {inside: func(s *scenario) { s.span(eventfile.KindFault, 0, 5*ms) }, want: "fault", shows: EvidenceFaults, who: "page fault"},
		"stopped": {
			inside: func(s *scenario) {
				s.add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: svcTid, State: 0x100 | eventfile.StateStopped})
				s.run(5 * ms)
				s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Peer: hogTid})
				s.switchIn(0)
			},
			want: "stopped", shows: EvidenceWaker, who: "hog",
		},
		"slow-step":   {steps: [3]int64{100, 5000, 200}, want: "slow-step", shows: EvidenceStep, who: "predict"},
		"slow-core":   {steps: [3]int64{200, 1400, 400}, want: "slow-core", shows: EvidenceStretch},
		"unexplained": {steps: [3]int64{400, 800, 500}, want: "unexplained", shows: EvidenceStretch},
		"mixed": {
			inside: func(s *scenario) {
				s.preempted(ms)
				s.offCPU(202, ms, lockTid, 0)
				s.span(eventfile.KindSoftirq, 3, ms)
			},
			want: "mixed",
		},
		"a runtime span goes before the part": {
			inside: func(s *scenario) {
				s.meta = append(s.meta, &eventfile.Window{Span: true, Kind: "gc", Begin: s.now, End: s.now.Add(4 * ms)})
				s.run(5 * ms)
			},
			want: "gc", shows: EvidenceSpan, who: "gc",
		},
		"incomplete": {
			inside: func(s *scenario) {
				s.meta = append(s.meta, &eventfile.Loss{Source: eventfile.LossRing, CPU: 0, Count: 9, First: s.now.Add(us), Last: s.now.Add(2 * us)})
				s.run(5 * ms)
			},
			want: "incomplete",
		},
		"trapping into faults is booked to fault": {
			setup: func(s *scenario) { s.header.FaultTrap = 900 },
			inside: func(s *scenario) {
				for range 1000 {
					s.span(eventfile.KindFault, 0, 500)
					s.run(700)
				}
			},
			want: "fault", shows: EvidenceFaultTrap,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			if tt.setup != nil {
				tt.setup(s)
			}
			s.normal(60)
			steps := normalSteps
			if tt.steps != [3]int64{} {
				steps = tt.steps
			}
			s.request(steps, func() {
				if tt.inside != nil {
					tt.inside(s)
				}
			})
			s.normal(39)
			_, x, _ := s.one()
			if x.Verdict != tt.want {
				t.Errorf("verdict %q, want %q; excess %v", x.Verdict, tt.want, x.Excess)
			}
			if tt.shows != "" && !slices.ContainsFunc(x.Evidence, func(e Evidence) bool {
				return e.What == tt.shows && (tt.who == "" || e.Name == tt.who)
			}) {
				t.Errorf("no evidence %q of %q in %+v", tt.shows, tt.who, x.Evidence)
			}
		})
	}
}

func TestQueuedBehindAnotherRequest(t *testing.T) {
	for name, rests := range map[string]bool{"at once": false, "after a rest in a poll": true} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.normal(98)
			s.request([3]int64{100, 2700, 200}, nil)
			slow := len(s.rows) - 1
			s.request(normalSteps, nil)
			// The last row was really sent while the slow one was served.
			s.rows[slow+1].Send = s.rows[slow].Send + 50*us
			if !rests {
				s.events = slices.DeleteFunc(s.events, func(e eventfile.Event) bool {
					return e.Time > s.windows[slow].End && e.Time < s.windows[slow+1].Begin
				})
			}
			res := s.analyze()
			r := res.Requests[slow+1]
			if !r.Tail {
				t.Fatal("the queued request is not in the tail")
			}
			x := res.Explain(r)
			behind := r.Parts[part.OtherRequest]
			if !rests && (x.Verdict != VerdictQueued || behind < 2900*us) {
				t.Errorf("verdict %q with %d ns behind the other request", x.Verdict, behind)
			}
			if rests && (x.Verdict != "client" || behind != 0 || find(x, EvidenceRequest, nil) != nil) {
				t.Errorf("verdict %q with %d ns behind a request that it cannot have waited for", x.Verdict, behind)
			}
		})
	}
}

func TestClientTimeIsOutsideTheWindowOnly(t *testing.T) {
	s := newScenario(t)
	s.normal(99)
	s.request(normalSteps, nil)
	s.rows[99].Send -= 80 * us // idle in epoll
	s.rows[99].Recv += 5000 * us
	s.now += 5000 * us
	r, x, _ := s.one()
	if x.Verdict != "client" {
		t.Errorf("verdict %q, want client; parts %v", x.Verdict, r.Parts)
	}
	if len(x.Evidence) == 0 || x.Evidence[0].What != EvidenceClient || x.Evidence[0].Context != "after" || x.Evidence[0].NS != 5020*us {
		t.Errorf("evidence %+v, want 5020 us after the answer first", x.Evidence)
	}
	if got := r.Parts[part.Running]; got != 1020*us {
		t.Errorf("running %d ns, want the window and its surroundings on the CPU, 1020 us", got)
	}
}
