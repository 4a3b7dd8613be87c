package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestScoreVerdicts(t *testing.T) {
	truth := []Truth{
		{ID: 1, Cause: "sleep"}, {ID: 2, Cause: "sleep"}, {ID: 3, Cause: "sleep"}, {ID: 4, Cause: "sleep"},
		{ID: 5, Cause: "preempted"}, {ID: 6, Cause: "preempted"},
		{ID: 7, Cause: "io"}, {ID: 8, Cause: "io"},
		{ID: 9, Cause: "slow-core", InjectedNS: 1000, LatencyNS: 1500, CPUNS: 1400},
		{ID: 11, Cause: "slow-core", InjectedNS: 1000, LatencyNS: 2500, CPUNS: 1400}, // and its CPU was away
		{ID: 10, Cause: "queued"},
		// Most requests are normal.
		{ID: 90, LatencyNS: 500, CPUNS: 400}, {ID: 91, LatencyNS: 500, CPUNS: 400}, {ID: 92, LatencyNS: 500, CPUNS: 400},
		{ID: 93, LatencyNS: 500, CPUNS: 400}, {ID: 94, LatencyNS: 500, CPUNS: 400}, {ID: 95, LatencyNS: 500, CPUNS: 400},
		{ID: 96, LatencyNS: 500, CPUNS: 400}, {ID: 97, LatencyNS: 500, CPUNS: 400}, {ID: 98, LatencyNS: 500, CPUNS: 400},
		{ID: 100, LatencyNS: 1500, CPUNS: 400, WaitedNS: 900},
		{ID: 101, LatencyNS: 1500, CPUNS: 400, WaitedNS: 900},
		{ID: 102, LatencyNS: 1500, CPUNS: 1400},
		{ID: 103, LatencyNS: 1500, CPUNS: 400, Beside: "sleep"},
	}
	tail := []Named{
		{ID: 1, Verdict: "sleep"}, {ID: 2, Verdict: "sleep"}, {ID: 3, Verdict: "mixed"}, // 4 is not in the tail
		{ID: 5, Verdict: "preempted"}, {ID: 6, Verdict: "sleep"},
		{ID: 7, Verdict: "incomplete", Gap: true}, {ID: 8, Verdict: "incomplete"},
		{ID: 9, Verdict: "sleep"}, {ID: 11, Verdict: "sleep"},
		{ID: 100, Verdict: "preempted"}, // the kernel saw that too
		{ID: 101, Verdict: "slow-core"}, // it waited for the CPU
		{ID: 102, Verdict: "slow-core"},
		{ID: 103, Verdict: "sleep"},  // the thread slept in another request
		{ID: 90, Verdict: "sleep"},   // only the lab does that
		{ID: 91, Verdict: "queued"},  // nor can this happen, one request at a time
		{ID: 92, Verdict: "mixed"},   // no cause has this name
		{ID: 1000, Verdict: "sleep"}, // of the warm-up
	}
	got := ScoreVerdicts(Thread, truth, tail)
	want := []CauseScore{
		{Cause: "io", Injected: 2, InTail: 2, Gaps: 1, Missed: map[string]int{"incomplete": 1}},
		{Cause: "preempted", Injected: 2, InTail: 2, Right: 1, Natural: 1, Missed: map[string]int{"sleep": 1}},
		{Cause: "queued", Injected: 1, Wrong: 1, Missed: map[string]int{}},
		{Cause: "sleep", Injected: 4, InTail: 3, Right: 2, Wrong: 4, Natural: 1, Missed: map[string]int{"mixed": 1}},
		{Cause: "slow-core", Injected: 2, InTail: 2, Disturbed: 1, Wrong: 1, Natural: 1, Missed: map[string]int{"sleep": 1}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(CauseScore{}, "Mistakes")); diff != "" {
		t.Fatalf("scores (-want +got):\n%s", diff)
	}
	for _, s := range got {
		against := s.Wrong
		for _, n := range s.Missed {
			against += n
		}
		if len(s.Mistakes) != against {
			t.Errorf("%s: %d mistakes are shown, %d counted: %v", s.Cause, len(s.Mistakes), against, s.Mistakes)
		}
	}
	if r, ok := got[3].Recall(); !ok || r != 2.0/3 {
		t.Errorf("recall of sleep %v %v, want 2/3", r, ok)
	}
	if r, ok := got[0].Recall(); !ok || r != 0 {
		t.Errorf("recall of io %v %v, want 0 of the one outside of a gap", r, ok)
	}
	if p, ok := got[3].Precision(); !ok || p != 2.0/6 {
		t.Errorf("precision of sleep %v %v, want 2/6", p, ok)
	}
	if _, ok := got[2].Recall(); ok {
		t.Error("a cause without a request in the tail has a recall")
	}
}

func TestNaturalVerdictsAgreeWithTheKernelsCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		shape   Shape
		verdict string
		truth   Truth
		natural int
		late    int64
	}{
		"a page fault was counted":         {Thread, "fault", Truth{CPUNS: 1, MinorFaults: 1}, 1, 0},
		"no page fault was counted":        {Thread, "fault", Truth{CPUNS: 1}, 0, 0},
		"Go's runtime waits in futexes":    {Goroutines, "lock", Truth{CPUNS: 1, Voluntary: 1}, 1, 0},
		"a pool's workers wait there, too": {Pool, "lock", Truth{CPUNS: 1, Voluntary: 1}, 1, 0},
		"the thread has not waited":        {Goroutines, "lock", Truth{CPUNS: 1}, 0, 0},
		"one thread waits for none":        {Thread, "lock", Truth{CPUNS: 1, Voluntary: 1}, 0, 0},
		"the answer lay with the client":   {Thread, "client", Truth{Cause: "sleep", InjectedNS: 100, AfterNS: 60}, 1, 0},
		"most of the wait was for a CPU":   {Thread, "waking", Truth{Cause: "sleep", InjectedNS: 100, LatencyNS: 110, CPUNS: 20, WaitedNS: 45}, 1, 0},
		"most of the wait was a sleep":     {Thread, "waking", Truth{Cause: "sleep", InjectedNS: 100, LatencyNS: 110, CPUNS: 20, WaitedNS: 25}, 0, 0},
		"the CPU was away for most of it":  {Thread, "slow-core", Truth{Cause: "throttled", InjectedNS: 100, LatencyNS: 110, CPUNS: 20, WaitedNS: 45}, 1, 0},
		"it waited for most of it":         {Thread, "slow-core", Truth{Cause: "throttled", InjectedNS: 100, LatencyNS: 110, CPUNS: 20, WaitedNS: 75}, 0, 0},
		"the answer was taken at once":     {Thread, "client", Truth{Cause: "sleep", InjectedNS: 100, AfterNS: 10}, 0, 0},
		"a CPU was late to switch":         {Thread, "slow-core", Truth{CPUNS: 20, LatencyNS: 100, WaitedNS: 80}, 1, 80},
		"a CPU was a little late":          {Thread, "slow-core", Truth{CPUNS: 20, LatencyNS: 100, WaitedNS: 80}, 0, 5},
		"it waited, and was late":          {Thread, "preempted", Truth{CPUNS: 20, LatencyNS: 100, WaitedNS: 80}, 0, 80},
	} {
		t.Run(name, func(t *testing.T) {
			tt.truth.ID = 1
			truth := []Truth{tt.truth, {ID: 2, Cause: tt.verdict}, {ID: 3, WaitedNS: 1}, {ID: 4}}
			scores := ScoreVerdicts(tt.shape, truth, []Named{{ID: 1, Verdict: tt.verdict, LateNS: tt.late}})
			i := slices.IndexFunc(scores, func(s CauseScore) bool { return s.Cause == tt.verdict })
			if got := scores[i]; got.Natural != tt.natural || got.Wrong != 1-tt.natural {
				t.Errorf("%d natural, %d wrong", got.Natural, got.Wrong)
			}
		})
	}
}

func TestAnAnswerThatTheClientLeavesIsDisturbedByASlowService(t *testing.T) {
	for after, disturbed := range map[int64]int{6_550_000: 0, 4_200_000: 0, 3_090_000: 1} {
		truth := []Truth{
			{ID: 1, Cause: "client", InjectedNS: 6_650_000, LatencyNS: 6_680_000, AfterNS: after},
			{ID: 2, LatencyNS: 600_000, AfterNS: 20_000},
		}
		got := ScoreVerdicts(Thread, truth, []Named{{ID: 1, Verdict: "mixed"}})[0]
		if got.Disturbed != disturbed || got.Missed["mixed"] != 1-disturbed {
			t.Errorf("%d ns after the answer: %d disturbed, missed %v", after, got.Disturbed, got.Missed)
		}
	}
}

func TestOnlySeveralRequestsAtOnceQueueNaturally(t *testing.T) {
	truth := []Truth{{ID: 1, Cause: "queued"}, {ID: 2}}
	tail := []Named{{ID: 2, Verdict: "queued"}}
	for shape, natural := range map[Shape]int{Thread: 0, Asyncio: 1} {
		if got := ScoreVerdicts(shape, truth, tail)[0].Natural; got != natural {
			t.Errorf("%s: %d are natural, want %d", shape, got, natural)
		}
	}
}

func TestAddScores(t *testing.T) {
	a := []CauseScore{{Cause: "io", Injected: 2, InTail: 2, Right: 1, Missed: map[string]int{"net": 1}}}
	b := []CauseScore{
		{Cause: "io", Injected: 3, InTail: 3, Gaps: 1, Disturbed: 1, Wrong: 1, Natural: 1, Missed: map[string]int{"net": 2}},
		{Cause: "await", Injected: 1, Missed: map[string]int{}},
	}
	want := []CauseScore{
		{Cause: "await", Injected: 1, Missed: map[string]int{}},
		{Cause: "io", Injected: 5, InTail: 5, Right: 1, Gaps: 1, Disturbed: 1, Wrong: 1, Natural: 1, Missed: map[string]int{"net": 3}},
	}
	if diff := cmp.Diff(want, AddScores(a, b)); diff != "" {
		t.Errorf("sum (-want +got):\n%s", diff)
	}
}

func TestTablesShowWhatWasSaidInstead(t *testing.T) {
	scores := []CauseScore{
		{Cause: "lock", Injected: 5, InTail: 6, Right: 3, Missed: map[string]int{"sleep": 1, "mixed": 2}},
		{Cause: "io", Injected: 5},
	}
	var b strings.Builder
	if err := WriteScores(&b, scores); err != nil {
		t.Fatal(err)
	}
	want := `cause  injected  in tail  right  in gaps  disturbed  wrong  natural  recall  precision  named instead
lock   5         6        3      0        0          0      0        0.500   1.000      mixed 2, sleep 1
io     5         0        0      0        0          0      0        -       -          -
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	want = `| cause | injected | in tail | right | in gaps | disturbed | wrong | natural | recall | precision | named instead |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| lock | 5 | 6 | 3 | 0 | 0 | 0 | 0 | 0.500 | 1.000 | mixed 2, sleep 1 |
| io | 5 | 0 | 0 | 0 | 0 | 0 | 0 | - | - | - |
`
	if diff := cmp.Diff(want, ScoresMarkdown(scores)); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

func TestReadTruthSaysWhereItIsBroken(t *testing.T) {
	got, err := ReadTruth(strings.NewReader(`{"id":1,"cause":"io","injected_ns":5}` + "\n{oops"))
	if err == nil || !strings.Contains(err.Error(), "parse truth 2") {
		t.Errorf("got error %v, want one that names the second", err)
	}
	if diff := cmp.Diff([]Truth{{ID: 1, Cause: "io", InjectedNS: 5}}, got); diff != "" {
		t.Errorf("what came before it (-want +got):\n%s", diff)
	}
}
