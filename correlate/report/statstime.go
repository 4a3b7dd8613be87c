package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// signatures says what each shape of the tail over time speaks for.
var signatures = map[string]string{
	stats.SignaturePeriodic: "look for timers: cron jobs, collectors, health checks",
	stats.SignatureLoad:     "look for queueing and locks",
	stats.SignatureBoth:     "look for timers that bring load, and for queueing and locks",
	stats.SignatureNeither:  "no period, no growth with load: look for faults, interrupts, preemption, the host",
	stats.SignatureUnknown:  "too few requests in the tail to tell",
}

func (p *printer) overTime(s *stats.Summary) {
	p.printf("signature  %s: %s\n", s.Signature, signatures[s.Signature])
	p.printf("  next request is in the tail too  %.1f%%, by chance %.2f%%\n", 100*s.NextInTail, 100*s.NextByChance)
	if s.Period != nil {
		p.printf("  slow stretches begin each        %.4g s (p %.2g)\n", s.Period.Seconds, s.Period.P)
	} else {
		p.printf("  slow stretches begin              at no period\n")
	}
	p.printf("  rank correlation with load       arrival rate %+.2f (p %.2g), requests in flight %+.2f (p %.2g)\n",
		s.Load.RateRho, s.Load.RateP, s.Load.InFlightRho, s.Load.InFlightP)
	p.printf("  autocorrelation of latencies     %.3f; dispersion of tail requests over seconds %.2f (1 = at random)\n\n",
		s.Autocorrelation, s.Dispersion)
}

// maxListed bounds the lists of seconds and bursts.
const maxListed = 10

func (p *printer) busySeconds(seconds []stats.Second) {
	silent, without := 0, 0
	for _, second := range seconds {
		switch {
		case second.Requests == 0:
			silent++
		case second.Tail == 0:
			without++
		}
	}
	p.printf("seconds: %d, of them %d without a tail request and %d without any request\n", len(seconds), without, silent)
	lines := []string{"busiest seconds\trequests\tin the tail"}
	for _, second := range Busiest(seconds, maxListed) {
		lines = append(lines, fmt.Sprintf("  %s\t%d\t%d", inRun(second.Run, fmt.Sprintf("second %d", second.Second)), second.Requests, second.Tail))
	}
	p.table(lines)
	p.printf("\n")
}

func inRun(run, what string) string {
	if run == "" {
		return what
	}
	return Printable(run) + " " + what
}

func (p *printer) bursts(s *stats.Summary) {
	if len(s.Bursts) == 0 {
		p.printf("no bursts: tail requests lie as if at random\n\n")
		return
	}
	held := 0
	for _, b := range s.Bursts {
		held += b.Tail
	}
	p.printf("bursts: %d, with %.0f%% of the tail\n", len(s.Bursts), 100*float64(held)/float64(max(s.Tail.Count, 1)))
	largest := slices.Clone(s.Bursts)
	slices.SortStableFunc(largest, func(a, b stats.Burst) int { return cmp.Compare(b.Tail, a.Tail) })
	lines := []string{"largest bursts\tlength\tin the tail"}
	for _, b := range largest[:min(maxListed, len(largest))] {
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%d", inRun(b.Run, fmt.Sprintf("in second %d", b.Second)), Duration(b.EndNs-b.StartNs), b.Tail))
	}
	p.table(lines)
	p.printf("\n")
}

func (p *printer) pages(pages []stats.Page) {
	lines := []string{"pages of calls with one in the tail\tin a row\tat random\tformula"}
	for _, page := range pages {
		if slices.Contains([]int{1, 2, 5, 10, 20, 50, 100}, page.K) {
			lines = append(lines, fmt.Sprintf("  %d\t%.2f%%\t%.2f%%\t%.2f%%", page.K, 100*page.InARow, 100*page.AtRandom, 100*page.Formula))
		}
	}
	p.table(lines)
	p.printf("\n")
}

func (p *printer) steps(steps []stats.StepRow, most int) {
	if len(steps) == 0 {
		return
	}
	p.printf("steps: only a ratio above the shuffled one says more than that the slowest were picked; the longest step is furthest over most easily\n")
	lines := []string{"step\tmedian of all\tof the tail\tratio\tshuffled\tfurthest over"}
	for _, step := range steps[:min(most, len(steps))] {
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%.2f\t%.2f\t%d", Printable(step.Name), Duration(step.AllMedian), Duration(step.TailMedian),
			step.Ratio, step.ShuffledRatio, step.Furthest))
	}
	p.table(lines)
	if more := len(steps) - most; more > 0 {
		p.printf("  and %d more\n", more)
	}
	p.printf("\n")
}
