//go:build vmtest

package vmtest_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/lab"
	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// countsPlan is short: each of its requests is looked at.
var countsPlan = lab.Plan{
	Dir:      vmtest.ScratchDir + "/job",
	Requests: 80,
	Warmup:   10,
	Seed:     1,
	PerCause: 5,
	Causes:   []string{"slow-step", "sleep"},
	Min:      6 * time.Millisecond,
	Max:      8 * time.Millisecond,
	Work:     time.Millisecond,
	Gap:      20 * time.Millisecond,
}

// skew is by how much a figure may be off: two counters, or a counter and the
// clock, are read some hundred instructions apart, of a million in a request.
const skew = 0.002

// An emulated core whose instructions take 2^N ns each, and whose clock runs at
// 1 GHz, does exactly 2^-N of them in a cycle, whatever it does. One whose
// instructions take what they take counts none, but cycles.
func TestInstructionsPerCycleAreWhatTheEmulatorDoes(t *testing.T) {
	host := build(t, runtime.GOARCH, "cmd/tailtrace")
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		if k.Arch != "arm64" {
			t.Skip("an emulated amd64 core counts nothing")
		}
		tailtrace, labjob := build(t, k.Arch, "cmd/tailtrace"), build(t, k.Arch, "internal/vmtest/labjob")
		for _, shift := range []int{0, 1, 2} {
			t.Run(fmt.Sprintf("shift=%d", shift), func(t *testing.T) {
				dir := recordJob(t, k, vmtest.Options{CPUs: 1, InstructionShift: shift}, countsPlan, tailtrace, labjob)
				x := explainJob(t, host, dir, countsPlan)
				if shift > 0 {
					allAre(t, x, correlate.EvidencePerCycle, math.Exp2(-float64(shift)))
					allAre(t, x, correlate.EvidenceCyclesPerNS, 1)
					return
				}
				for _, what := range []string{correlate.EvidencePerCycle, correlate.EvidenceInstructions} {
					if seen := figuresOf(t, x, what); len(seen) > 0 {
						t.Errorf("%s: %v of nothing that counts", what, seen)
					}
				}
				if len(figuresOf(t, x, correlate.EvidenceCyclesPerNS)) == 0 {
					t.Error("no cycles")
				}
			})
		}
	})
}

// figuresOf returns a figure and its normal value of each request that has it
// in its evidence.
func figuresOf(t *testing.T, x *report.Explain, what string) (list []float64) {
	t.Helper()
	for _, r := range x.Requests {
		for _, e := range r.Evidence {
			if e.What != what {
				continue
			}
			if e.Value == nil || e.Normal == nil {
				t.Fatalf("request %v: %+v", r.ID, e)
			}
			list = append(list, *e.Value, *e.Normal)
		}
	}
	return list
}

// allAre: evidence is only of requests that ran for longer than the median.
func allAre(t *testing.T, x *report.Explain, what string, want float64) {
	t.Helper()
	list := figuresOf(t, x, what)
	worst := 0.0
	for _, v := range list {
		worst = max(worst, math.Abs(v/want-1))
	}
	t.Logf("%s: %d figures, off by %.4f%% at most", what, len(list), 100*worst)
	if worst > skew {
		t.Errorf("%s is off by %.4f%%", what, 100*worst)
	}
	if 2*len(list) < len(x.Requests) {
		t.Errorf("only %d of %d requests have %s", len(list)/2, len(x.Requests), what)
	}
}
