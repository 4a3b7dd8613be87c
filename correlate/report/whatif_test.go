package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIfTakesOutOneCauseAtATime(t *testing.T) {
	latencies := make([]int64, 1000)
	for i := range latencies {
		latencies[i] = int64(1000 + i) // p99 1989, p99.9 1998
	}
	var savings []saving
	for i := 985; i < 1000; i++ {
		s := saving{i, "lock", 900}
		if i >= 995 {
			s.verdict = "preempted"
		}
		savings = append(savings, s)
	}
	got := whatIf(latencies, savings, []Verdict{{"lock", 10, .6}, {"preempted", 5, .3}, {"unexplained", 0, 0}})
	want := []WhatIf{
		{"lock", 1979, 1998},      // the ten of 1985 to 1994 are gone from the top
		{"preempted", 1984, 1993}, // the five of 1995 to 1999
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
