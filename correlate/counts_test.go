package correlate

import (
	"math"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// testPMU counts so much in a ns while the service's thread has the CPU.
type testPMU struct {
	perNS   [eventfile.Counters]float64
	set     uint32 // 0: there is none
	isOn    bool
	since   Time
	counted [eventfile.Counters]float64
	away    int64 // ns of the stay that the thread is not charged for
	lag     int64 // ns at its end in which the clock stood still
	unseen  bool
}

func (p *testPMU) run(d int64) {
	for i, n := range p.perNS {
		p.counted[i] += n * float64(d)
	}
}

// see takes a switch before it is added.
func (p *testPMU) see(s *scenario, e *eventfile.Event) {
	if p.isOn && e.Tid == svcTid && (p.set != 0 || p.away != 0 || p.lag != 0) {
		c := eventfile.Event{Kind: eventfile.KindCounters, Tid: svcTid, CPU: e.CPU, Dur: int64(s.now - p.since), ID: p.set, Away: p.away, Lag: p.lag}
		if p.unseen {
			c.Flags = eventfile.FlagUnseen
		}
		for i, n := range p.counted {
			c.Counts[i] = uint64(n)
		}
		s.add(c)
	}
	if p.isOn = e.Peer == svcTid; p.isOn {
		p.since, p.counted, p.away, p.lag, p.unseen = s.now, [eventfile.Counters]float64{}, 0, 0, false
	}
}

const allCounters = 1<<eventfile.Counters - 1

// paced serves one request during which the CPU counts otherwise.
func (s *scenario) paced(perNS [eventfile.Counters]float64, steps [3]int64) {
	before := s.pmu.perNS
	s.pmu.perNS = perNS
	s.request(steps, nil)
	s.pmu.perNS = before
}

func TestCountsTellMoreWorkFromSlowWork(t *testing.T) {
	stretched, oneStep, uneven := [3]int64{200, 1400, 400}, [3]int64{100, 2700, 200}, [3]int64{400, 800, 500}
	normal := [eventfile.Counters]float64{2, 3, 0.5}
	for name, tt := range map[string]struct {
		steps [3]int64
		perNS [eventfile.Counters]float64
		set   uint32
		want  string
		shows map[string][2]float64 // value and normal
	}{
		"every step does more": {stretched, normal, allCounters, VerdictMoreWork, map[string][2]float64{
			EvidenceInstructions: {6.06e6, 3.06e6}, EvidencePerCycle: {1.5, 1.5}, EvidenceCyclesPerNS: {2, 2}, EvidenceStalled: {0.25, 0.25},
		}},
		"every step waits for memory": {stretched, [eventfile.Counters]float64{2, 1.5, 1.2}, allCounters, VerdictSlowCore, map[string][2]float64{
			EvidenceInstructions: {3.03e6, 3.06e6}, EvidencePerCycle: {0.75, 1.5}, EvidenceStalled: {0.6, 0.25},
		}},
		"the clock is slow": {stretched, [eventfile.Counters]float64{1, 1.5, 0.25}, allCounters, VerdictSlowCore, map[string][2]float64{
			EvidencePerCycle: {1.5, 1.5}, EvidenceCyclesPerNS: {1, 2},
		}},
		"more to do accounts for most of it": {stretched, [eventfile.Counters]float64{2, 2.4, 0.5}, allCounters, VerdictMoreWork, nil},
		"more to do accounts for little":     {stretched, [eventfile.Counters]float64{2, 2.1, 0.5}, allCounters, VerdictSlowCore, nil},
		"one step does more, which its name says better": {oneStep, normal, allCounters, VerdictSlowStep, map[string][2]float64{
			EvidenceInstructions: {9.06e6, 3.06e6},
		}},
		"steps do more that are not all of them": {uneven, normal, allCounters, VerdictMoreWork, nil},
		"nothing is known of instructions": {stretched, normal, 1 << eventfile.CounterCycles, VerdictSlowCore, map[string][2]float64{
			EvidenceCyclesPerNS: {2, 2},
		}},
		"nothing is known of cycles": {stretched, normal, 1 << eventfile.CounterInstructions, VerdictMoreWork, map[string][2]float64{
			EvidenceInstructions: {6.06e6, 3.06e6},
		}},
		"nothing counts": {stretched, normal, 0, VerdictSlowCore, map[string][2]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.pmu.set, s.pmu.perNS = tt.set, normal
			s.normal(60)
			s.paced(tt.perNS, tt.steps)
			s.normal(39)
			_, x, _ := s.one()
			if x.Verdict != tt.want {
				t.Errorf("verdict %q, want %q; evidence %+v", x.Verdict, tt.want, x.Evidence)
			}
			if tt.shows != nil {
				checkFigures(t, &x, tt.set, tt.shows)
			}
		})
	}
}

// checkFigures: those that want does not name may be there if they can be.
func checkFigures(t *testing.T, x *Explanation, set uint32, want map[string][2]float64) {
	t.Helper()
	needs := map[string]uint32{
		EvidenceInstructions: 1 << eventfile.CounterInstructions, EvidenceCyclesPerNS: 1 << eventfile.CounterCycles,
		EvidencePerCycle: 1<<eventfile.CounterInstructions | 1<<eventfile.CounterCycles,
		EvidenceStalled:  1<<eventfile.CounterStalled | 1<<eventfile.CounterCycles,
	}
	for what, need := range needs {
		e := find(*x, what, nil)
		if can := set&need == need; (e != nil) != can {
			t.Errorf("%s: %+v, though the counters are %b", what, e, set)
			continue
		}
		if w, ok := want[what]; ok && (math.Abs(*e.Value/w[0]-1) > 0.01 || math.Abs(*e.Normal/w[1]-1) > 0.01) {
			t.Errorf("%s is %g, normally %g; want %g and %g", what, *e.Value, *e.Normal, w[0], w[1])
		}
	}
}

func TestFewNormalRequestsAreNoMeasure(t *testing.T) {
	s := newScenario(t)
	s.normal(99 - enoughCounted)
	s.pmu.set, s.pmu.perNS = allCounters, [eventfile.Counters]float64{2, 3, 1}
	s.paced(s.pmu.perNS, [3]int64{200, 1400, 400})
	s.normal(enoughCounted - 1)
	s.pmu.set = 0
	s.normal(1)
	if _, x, _ := s.one(); find(x, EvidenceInstructions, nil) != nil || x.Verdict != VerdictSlowCore {
		t.Errorf("verdict %q, evidence %+v", x.Verdict, x.Evidence)
	}
}

// request makes a request of its client's round trip, its window in it, and its
// points.
func timedRequest(begin, windowBegin, windowEnd, end Time, points ...eventfile.Point) *Request {
	r := &Request{Begin: begin, End: end}
	r.setWindow(&eventfile.Window{Kind: "score", Begin: windowBegin, End: windowEnd, Tid: svcTid, EndTid: svcTid, Points: points})
	return r
}

func TestStayIsOfTheRequestThatHadItToItself(t *testing.T) {
	point := func(p eventfile.PointType, at int64) eventfile.Point { return eventfile.Point{Type: p, Offset: at} }
	for name, tt := range map[string]struct {
		reqs  []*Request
		stays [][2]Time
		want  []int64 // ns of stays by request
	}{
		"the whole stay":                   {[]*Request{timedRequest(90, 110, 190, 210)}, [][2]Time{{100, 200}}, []int64{100}},
		"a little housekeeping after it":   {[]*Request{timedRequest(90, 110, 180, 191)}, [][2]Time{{100, 200}}, []int64{100}},
		"too much of that":                 {[]*Request{timedRequest(90, 110, 180, 189)}, [][2]Time{{100, 200}}, []int64{0}},
		"two stays":                        {[]*Request{timedRequest(90, 110, 380, 400)}, [][2]Time{{100, 200}, {300, 390}}, []int64{190}},
		"only one of two":                  {[]*Request{timedRequest(90, 110, 310, 320)}, [][2]Time{{100, 200}, {300, 390}}, []int64{100}},
		"two requests in one stay":         {[]*Request{timedRequest(90, 110, 150, 155), timedRequest(150, 160, 190, 200)}, [][2]Time{{100, 200}}, []int64{0, 0}},
		"a little of another request":      {[]*Request{timedRequest(90, 110, 190, 192), timedRequest(190, 195, 290, 300)}, [][2]Time{{100, 200}, {250, 300}}, []int64{100, 50}},
		"the client is slow to receive":    {[]*Request{timedRequest(90, 110, 190, 300), timedRequest(200, 210, 290, 300)}, [][2]Time{{100, 200}, {205, 300}}, []int64{100, 95}},
		"sent while another one is served": {[]*Request{timedRequest(90, 110, 190, 200), timedRequest(120, 210, 290, 300)}, [][2]Time{{100, 200}, {205, 300}}, []int64{100, 95}},
		"both at once, without a suspend":  {[]*Request{timedRequest(90, 110, 190, 200), timedRequest(90, 112, 195, 200)}, [][2]Time{{100, 200}}, []int64{0, 0}},
		"one is suspended meanwhile": {[]*Request{
			timedRequest(0, 10, 390, 400, point(eventfile.PointSuspend, 85), point(eventfile.PointResume, 295)), timedRequest(100, 101, 199, 200),
		}, [][2]Time{{10, 95}, {100, 200}, {305, 400}}, []int64{180, 100}},
		"another thread's stay": {[]*Request{timedRequest(90, 110, 190, 210)}, nil, []int64{0}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookOf(tt.reqs)
			b.add(&timeline.Stay{Tid: lockTid, Start: 100, End: 200, Counted: 1})
			for _, s := range tt.stays {
				b.add(&timeline.Stay{Tid: svcTid, Start: s[0], End: s[1], Counted: 1, Counts: [eventfile.Counters]uint64{uint64(s[1] - s[0])}})
			}
			for i, r := range tt.reqs {
				if got := r.counted; got.ns != tt.want[i] || got.sums[0] != uint64(tt.want[i]) {
					t.Errorf("request %d has %+v, want %d ns", i, got, tt.want[i])
				}
			}
		})
	}
}

// bookOf has the stays of requests that are cut as in a recording.
func bookOf(reqs []*Request) *stayBook {
	gs, pieces := groups{}, lanes{}
	for i, r := range reqs {
		r.group = gs.of(r)
		cut(r, int32(i), r.group, pieces)
	}
	pieces.finish()
	return newStayBook(reqs, pieces)
}
