package lab

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScoreVerdicts(t *testing.T) {
	truth := []Truth{
		{ID: 1, Cause: "sleep"}, {ID: 2, Cause: "sleep"}, {ID: 3, Cause: "sleep"}, {ID: 4, Cause: "sleep"},
		{ID: 5, Cause: "preempted"}, {ID: 6, Cause: "preempted"},
		{ID: 7, Cause: "io"},
	}
	verdict := map[uint64]string{
		1: "sleep", 2: "sleep", 3: "mixed", 4: "sleep",
		5: "preempted", 6: "sleep",
		100: "preempted", // nothing injected, and the machine can do that
		101: "sleep",     // nothing injected, and only the lab does that
		102: "mixed",     // no cause has this name
	}
	inTail := map[uint64]bool{1: true, 2: true, 3: true, 5: true, 6: true, 100: true, 101: true, 102: true}
	got := ScoreVerdicts(truth, verdict, inTail)
	want := []CauseScore{
		{Cause: "io", Injected: 1, Missed: map[string]int{}},
		{Cause: "preempted", Injected: 2, InTail: 2, Right: 1, Natural: 1, Missed: map[string]int{"sleep": 1}},
		{Cause: "sleep", Injected: 4, InTail: 3, Right: 2, Wrong: 2, Missed: map[string]int{"mixed": 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("scores (-want +got):\n%s", diff)
	}
	if r, ok := got[2].Recall(); !ok || r != 2.0/3 {
		t.Errorf("recall of sleep %v %v, want 2/3", r, ok)
	}
	if p, ok := got[2].Precision(); !ok || p != 2.0/4 {
		t.Errorf("precision of sleep %v %v, want 2/4", p, ok)
	}
	if _, ok := got[0].Recall(); ok {
		t.Error("a cause without a request in the tail has a recall")
	}
}

func TestWriteScoresShowsWhatWasSaidInstead(t *testing.T) {
	var b strings.Builder
	err := WriteScores(&b, []CauseScore{
		{Cause: "lock", Injected: 5, InTail: 6, Right: 3, Missed: map[string]int{"sleep": 1, "mixed": 2}},
		{Cause: "io", Injected: 5},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `cause  injected  in tail  right  wrong  natural  recall  precision  named instead
lock   5         6        3      0      0        0.50    1.00       mixed 2, sleep 1
io     5         0        0      0      0        -       -          -
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
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
