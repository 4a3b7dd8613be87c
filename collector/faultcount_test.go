package collector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestMissedFaultsAreBoundedByThoseThatWereSeen(t *testing.T) {
	const began, ended = 100, 900
	state := func(counted, at, missed, spells, first, last uint64) *bpf.KernelCpuState {
		var s bpf.KernelCpuState
		s.Faults[1] = bpf.KernelFaultCount{Counted: counted, At: at, Missed: missed, Spells: spells, First: first, Last: last}
		return &s
	}
	loss := func(n uint64, first, last eventfile.Time) []eventfile.Loss {
		return []eventfile.Loss{{Source: eventfile.LossSkipped, CPU: 3, Count: n, First: first, Last: last, What: skippedWhat}}
	}
	tests := map[string]struct {
		before, after *bpf.KernelCpuState
		total         uint64
		want          []eventfile.Loss
	}{
		"all were seen":              {state(5, 200, 0, 0, 0, 0), state(9, 300, 0, 0, 0, 0), 9, nil},
		"one spell":                  {state(5, 200, 0, 0, 0, 0), state(9, 300, 3, 1, 250, 280), 9, loss(3, 250, 280)},
		"several spells":             {state(5, 200, 1, 1, 110, 120), state(9, 300, 3, 3, 250, 280), 9, loss(2, 200, 280)},
		"one that was told before":   {state(5, 200, 7, 1, 110, 150), state(9, 300, 7, 1, 110, 150), 9, nil},
		"the first is missing":       {state(0, 0, 0, 0, 0, 0), state(2, 300, 1, 1, 0, 300), 2, loss(1, began, 300)},
		"from before the recording":  {state(4, 50, 0, 0, 0, 0), state(7, 300, 2, 1, 50, 300), 7, loss(2, began, 300)},
		"none was seen any more":     {state(5, 200, 0, 0, 0, 0), state(5, 200, 0, 0, 0, 0), 8, loss(3, 200, ended)},
		"before the last, and after": {state(5, 200, 0, 0, 0, 0), state(9, 300, 3, 1, 250, 280), 10, append(loss(3, 250, 280), loss(1, 300, ended)...)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			totals := faultTotals{1: {3: tt.total}}
			got := append(faultsMissed(3, tt.before, tt.after, began), totals.missedLast(3, tt.after, began, ended)...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}
