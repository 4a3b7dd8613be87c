package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// warn collects what a reader must know before the numbers.
func (s *Summary) warn(sets []*rows.Set, runs []*run, options Options) {
	say := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	s.Warnings = append(s.Warnings, rows.Warnings(sets)...)
	s.warnLabels()
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
	if options.Windows {
		say("times are the service's own: what a request waited before the service began it is not in them, nor whether its client waited for the answer to another")
	}
	if s.ClosedLoop {
		say("closed loop: each request waited for the answer to one before, so a stall also kept others from being sent, and these percentiles leave those out; send on a schedule and give intended_ns, or see 'tailtrace stats --expected-interval'")
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

// warnLabels says what the labels mean for these rows.
func (s *Summary) warnLabels() {
	var unstable []string
	for _, quantile := range Quantiles {
		labels := s.Labels[quantile.Name]
		switch {
		case slices.Contains(labels, LabelMax):
			s.Warnings = append(s.Warnings, fmt.Sprintf("with n = %d, %s is nothing but the largest value", s.N, quantile.Name))
			continue
		case slices.Contains(labels, LabelUnstable):
			unstable = append(unstable, quantile.Name)
		}
		only := 0
		for _, r := range s.Runs {
			if slices.Contains(r.Labels[quantile.Name], LabelMax) {
				only++
			}
		}
		if only > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("in %d of %d runs %s is nothing but the run's largest value", only, len(s.Runs), quantile.Name))
		}
	}
	if len(unstable) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: fewer than a hundred values lie beyond, each of which moves it", strings.Join(unstable, " and ")))
	}
}

// bursty reports whether a tail request is followed by another clearly more
// often than by chance.
func (s *Summary) bursty() bool {
	return s.Tail.Count >= signatureTail && s.NextInTail > 3*s.NextByChance && s.NextInTail > .05
}
