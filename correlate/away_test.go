package correlate

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

func TestTimeThatWasNotChargedIsNotTheStepsDoing(t *testing.T) {
	for name, tt := range map[string]struct {
		inside func(s *scenario) // of the second step
		want   string
		away   int64 // ns; 0: nothing may be said of it
		late   int64 // likewise
	}{
		"the CPU was away":       {func(s *scenario) { s.run(3000 * us); s.pmu.away = 2900 * us }, VerdictSlowCore, 2900 * us, 0},
		"for the lesser part":    {func(s *scenario) { s.run(3000 * us); s.pmu.away = 1000 * us }, VerdictSlowStep, 1000 * us, 0},
		"the thread had left it": {func(s *scenario) { s.run(3000 * us); s.pmu.away, s.pmu.unseen = 2900*us, true }, VerdictIncomplete, 0, 0},
		"not at all":             {func(s *scenario) { s.run(3000 * us) }, VerdictSlowStep, 0, 0},
		"it was late to switch":  {func(s *scenario) { s.run(3000 * us); s.pmu.lag = 2900 * us }, VerdictSlowStep, 0, 2900 * us},
		"interrupts that the kernel keeps apart": {func(s *scenario) {
			s.span(eventfile.KindSoftirq, 3, 3000*us)
			s.pmu.away = 3000 * us
		}, "softirq", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.normal(60)
			s.request(normalSteps, func() { tt.inside(s) })
			s.normal(39)
			_, x, res := s.one()
			if got := res.warnsOf("without a switch"); got != (tt.want == VerdictIncomplete) {
				t.Errorf("that switches were not reported is said: %t", got)
			}
			saidOf := func(what string) int64 {
				if e := find(x, what, nil); e != nil {
					return e.NS
				}
				return 0
			}
			away, late := saidOf(EvidenceAway), saidOf(EvidenceLateSwitch)
			if x.Verdict != tt.want || away != tt.away || late != tt.late {
				t.Errorf("verdict %q with the CPU away for %d ns and late by %d, want %q, %d and %d", x.Verdict, away, late, tt.want, tt.away, tt.late)
			}
		})
	}
}

func TestLateSwitchIsOfWhoHadTheEndOfTheStay(t *testing.T) {
	for name, tt := range map[string]struct {
		reqs []*Request
		lag  int64
		want []int64
	}{
		"in one request":        {[]*Request{timedRequest(90, 100, 200, 210)}, 40, []int64{40}},
		"the request had ended": {[]*Request{timedRequest(90, 100, 150, 155)}, 40, []int64{0}},
		"in its end":            {[]*Request{timedRequest(90, 100, 170, 175)}, 40, []int64{15}},
		"in the later of two":   {[]*Request{timedRequest(90, 100, 150, 155), timedRequest(140, 156, 200, 210)}, 40, []int64{0, 40}},
		"longer than the stay":  {[]*Request{timedRequest(90, 100, 200, 210)}, 1 << 62, []int64{100}},
		"a length that is none": {[]*Request{timedRequest(90, 100, 200, 210)}, -5, []int64{0}},
		"still with the client": {[]*Request{timedRequest(90, 100, 150, 210), timedRequest(140, 155, 200, 210)}, 40, []int64{0, 40}},
	} {
		t.Run(name, func(t *testing.T) {
			bookOf(tt.reqs).add(&timeline.Stay{Tid: svcTid, Start: 100, End: 200, Lag: tt.lag})
			for i, r := range tt.reqs {
				if r.late != tt.want[i] {
					t.Errorf("request %d: %d ns, want %d", i, r.late, tt.want[i])
				}
			}
		})
	}
}

func TestTimeAwayIsOfARequestOnlyAsFarAsItMustBe(t *testing.T) {
	for name, tt := range map[string]struct {
		reqs []*Request
		want []int64
	}{
		"a stay of its own":   {[]*Request{timedRequest(90, 100, 200, 210)}, []int64{40}},
		"a stay of two":       {[]*Request{timedRequest(90, 110, 170, 175), timedRequest(176, 180, 200, 210)}, []int64{15, 0}},
		"both at once":        {[]*Request{timedRequest(90, 100, 190, 200), timedRequest(90, 100, 195, 200)}, []int64{0, 0}},
		"none for the thread": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			bookOf(tt.reqs).add(&timeline.Stay{Tid: svcTid, Start: 100, End: 200, Away: 40})
			for i, r := range tt.reqs {
				if r.away != tt.want[i] {
					t.Errorf("request %d: %d ns, want %d", i, r.away, tt.want[i])
				}
			}
		})
	}
}
