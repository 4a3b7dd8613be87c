package timeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func counters(at Time, cpu, tid int32, dur int64) eventfile.Event {
	return eventfile.Event{
		Kind: eventfile.KindCounters, Time: at, CPU: cpu, Tid: tid, Dur: dur,
		ID: 1 << eventfile.CounterCycles, Counts: [eventfile.Counters]uint64{7},
	}
}

func TestCountersAreOfTheStayThatTheTraceHas(t *testing.T) {
	stay := []Stay{{Tid: svc, CPU: 1, Start: 10, End: 30, Counted: 1 << eventfile.CounterCycles, Counts: [eventfile.Counters]uint64{7}}}
	tests := map[string]struct {
		events []eventfile.Event
		want   []Stay
	}{
		"from switch to switch": {
			[]eventfile.Event{sw(10, 1, 0, svc, 0), counters(30, 1, svc, 20), sw(30, 1, svc, 0, 1)}, stay,
		},
		"interrupts do not divide it": {
			[]eventfile.Event{sw(10, 1, 0, svc, 0), span(eventfile.KindIRQ, 1, svc, 12, 14), counters(30, 1, svc, 20), sw(30, 1, svc, 0, 1)}, stay,
		},
		"its switch-in is missing": {
			[]eventfile.Event{counters(30, 1, svc, 20), sw(30, 1, svc, 0, 1)}, nil,
		},
		"a switch in between is missing": {
			[]eventfile.Event{sw(5, 1, 0, svc, 0), counters(30, 1, svc, 20), sw(30, 1, svc, 0, 1)}, nil,
		},
		"another CPU": {
			[]eventfile.Event{sw(10, 0, 0, svc, 0), counters(30, 1, svc, 20), sw(30, 1, svc, 0, 1)}, nil,
		},
		"nobody who is traced": {
			[]eventfile.Event{sw(10, 1, 0, hog, 0), counters(30, 1, hog, 20), sw(30, 1, hog, 0, 1)}, nil,
		},
		"a length that wraps": {
			[]eventfile.Event{sw(10, 1, 0, svc, 0), counters(10, 1, svc, 0), counters(5, 1, svc, -5)}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []Stay
			b := New(func(*Segment) {}, nil, nil)
			b.Counted = func(s *Stay) { got = append(got, *s) }
			for _, e := range append(names(), tt.events...) {
				b.Add(&e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("stays (-want +got):\n%s", diff)
			}
		})
	}
}
