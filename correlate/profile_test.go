package correlate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

func (s *scenario) sample(stack uint64) {
	s.add(eventfile.Event{Kind: eventfile.KindSample, Tid: svcTid, Stack: stack})
}

// waitIn has the thread block in a system call, with a stack.
func (s *scenario) waitIn(stack uint64, d int64) {
	s.offCPU(202, d, lockTid, 0)
	for i := len(s.events) - 1; ; i-- {
		if e := &s.events[i]; e.Kind == eventfile.KindSwitch && e.Tid == svcTid {
			e.Stack = stack
			return
		}
	}
}

func (s *scenario) profile() *Result {
	s.t.Helper()
	side := func([]*Request) func(*Request) Side {
		return func(r *Request) Side {
			if r.Tail {
				return SideOf
			}
			return SideRest
		}
	}
	set := &rows.Set{Name: "rows", Rows: s.rows}
	res, err := Analyze(s.opener(), []*rows.Set{set}, Options{Tail: 0.01, Profile: side})
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func TestProfileTellsTheTailFromTheRest(t *testing.T) {
	const common, slow, wait, idle = 1, 2, 3, 4
	s := newScenario(t)
	for range 99 {
		s.request(normalSteps, func() { s.sample(common) })
		s.sample(idle) // the thread polls between requests
	}
	s.request([3]int64{100, 9000, 200}, func() {
		s.sample(common)
		s.sample(slow)
		s.waitIn(wait, 2000*us)
		s.sample(slow)
	})
	s.meta = append(s.meta,
		&eventfile.Stack{ID: slow, Frames: []eventfile.Frame{{Symbol: "slow_step"}}},
		&eventfile.Stack{ID: slow, Frames: []eventfile.Frame{{Symbol: "written again"}}})
	res := s.profile()
	want := &Profile{
		Of:   Stacks{Requests: 1, CPU: map[uint64]int64{common: 1, slow: 2}, Off: map[uint64]Wait{wait: {N: 1, Ns: 2000 * us}}},
		Rest: Stacks{Requests: 99, CPU: map[uint64]int64{common: 99}, Off: map[uint64]Wait{}},
	}
	if diff := cmp.Diff(want, res.Profile); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	if st := res.Stack(slow); st == nil || st.Frames[0].Symbol != "slow_step" {
		t.Errorf("the stack is %+v, want the first that was written", st)
	}
	if res.Stack(common) != nil {
		t.Error("a stack that was never written has calls")
	}
}

func TestProfileCountsAWaitOnceThoughAStepEndsInIt(t *testing.T) {
	s := newScenario(t)
	s.normal(99)
	s.request([3]int64{100, 4000, 200}, func() { s.waitIn(5, 1000*us) })
	// The step `predict` ends in the middle of the wait.
	w := &s.windows[len(s.windows)-1]
	w.Points[1].Offset = w.Points[0].Offset + 2000*us + 500*us
	if got := s.profile().Profile.Of.Off[5]; got != (Wait{N: 1, Ns: 1000 * us}) {
		t.Errorf("%+v, want one wait of 1 ms", got)
	}
}

func TestWaitsWithoutStacksAreToldFromNone(t *testing.T) {
	stacks := func(ids ...uint64) Stacks {
		s := Stacks{Off: map[uint64]Wait{}}
		for _, id := range ids {
			s.Off[id] = Wait{N: 1, Ns: 1}
		}
		return s
	}
	for _, c := range []struct {
		of, rest Stacks
		want     bool
	}{{stacks(), stacks(), false}, {stacks(0), stacks(), true}, {stacks(0), stacks(0, 7), false}} {
		if got := (&Profile{Of: c.of, Rest: c.rest}).OnlyUnknownWaits(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestNoProfileIsMadeUnasked(t *testing.T) {
	s := newScenario(t)
	s.normal(100)
	if p := s.analyze().Profile; p != nil {
		t.Errorf("%+v", p)
	}
}
