package stats

import (
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// warn collects what a reader must know before the numbers.
func (s *Summary) warn(sets []*rows.Set, runs []*run) {
	say := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	for _, set := range sets {
		for _, warning := range set.Warnings {
			if len(sets) > 1 {
				warning = set.Name + ": " + warning
			}
			s.Warnings = append(s.Warnings, warning)
		}
	}
	for _, quantile := range slices.Backward(Quantiles) {
		if slices.Contains(s.Labels[quantile.Name], LabelMax) {
			say("with n = %d, %s is nothing but the largest value", s.N, quantile.Name)
		}
	}
	unlimited := 0
	for _, r := range runs {
		for _, row := range r.rows {
			if row.Timeout && row.TimeoutNs == 0 {
				unlimited++
			}
		}
	}
	if unlimited > 0 {
		say("%d rows timed out without timeout_ns: they count with the time at which the client gave up, at least", unlimited)
	}
	if s.ClosedLoop {
		say("closed loop: each request waited for the answer to one before, so a stall also kept others from being sent, and these percentiles leave those out; send on a schedule and give intended_ns, or see --expected-interval")
	}
	if s.Corrected != nil {
		say("the corrected percentiles are a model of a schedule with one request each %d ns, not a measurement", s.Corrected.ExpectedIntervalNs)
	}
	if s.bursty() {
		say("slow requests come together (the next is slow too in %.1f%%, by chance in %.1f%%): the exact intervals take requests as independent and are too narrow; trust the block bootstrap, and repeats more",
			100*s.NextInTail, 100*s.NextByChance)
	}
	s.Warnings = append(s.Warnings, restlessPercentiles(runs, s.AcrossRuns)...)
}

// bursty reports whether a tail request is followed by another clearly more
// often than by chance.
func (s *Summary) bursty() bool {
	return s.Tail.Count >= signatureTail && s.NextInTail > 3*s.NextByChance && s.NextInTail > .05
}
