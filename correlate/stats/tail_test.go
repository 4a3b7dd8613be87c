package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

func TestTailCount(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 94: 1, 100: 1, 101: 2, 1000: 10, 100_000: 1000} {
		if got := TailCount(n, .01); got != want {
			t.Errorf("TailCount(%d) = %d, want %d", n, got, want)
		}
	}
	if got := TailCount(10, 2); got != 10 {
		t.Errorf("more than all: %d", got)
	}
}

func TestTailIsTakenOfEachRunWithoutWarmup(t *testing.T) {
	var set []rows.Row
	add := func(run string, warmup bool, latencies ...int64) {
		for _, l := range latencies {
			set = append(set, rows.Row{Run: run, Warmup: warmup, Send: 100, Recv: 100 + l})
		}
	}
	add("a", true, 900, 900)
	add("a", false, 5, 7, 6, 7, 7)
	add("b", false, 50, 60, 70)
	tail := TailOf(set, .4)
	want := &Tail{
		Fraction: .4, N: 8, Threshold: 7,
		Member:  []bool{false, false, false, true, false, true, false, false, true, true},
		Indices: []int{3, 5, 8, 9},
		Runs:    []RunTail{{"a", 0, 5, 2, 7}, {"b", 7, 3, 2, 60}},
	}
	if diff := cmp.Diff(want, tail); diff != "" {
		t.Error(diff)
	}
}

func TestAFailedRowIsInTheTailByItsTimeout(t *testing.T) {
	set := []rows.Row{{Recv: 500}, {Recv: 10, Error: "timed out", Timeout: true, TimeoutNs: 1000}, {Recv: 600}}
	if tail := TailOf(set, .01); !cmp.Equal(tail.Indices, []int{1}) || tail.Threshold != 1000 {
		t.Errorf("%+v", tail)
	}
}
