package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// Bounds of the tables that stand beside the verdicts; StatsText has all.
const (
	maxAttributes = 14
	maxSteps      = 10
)

// briefLatency is the percentiles with how far they can be trusted below them:
// the interval from within one run, or the range of several.
func (p *printer) briefLatency(x *Explain) {
	quantiles := append(slices.Clone(stats.Quantiles), stats.Quantile{Name: stats.Max})
	row := func(head string, cell func(name string) string) string {
		for _, q := range quantiles {
			head += "\t" + cell(q.Name)
		}
		return head
	}
	lines := []string{row("latency", func(name string) string { return name + " " + Duration(x.Percentiles.Get(name)) })}
	if s := x.Stats; s != nil && len(s.Runs) > 1 {
		lines = append(lines, row(fmt.Sprintf("  %d runs", len(s.Runs)), func(name string) string {
			return Duration(s.AcrossRuns[name].Min) + " to " + Duration(s.AcrossRuns[name].Max)
		}))
	} else if s != nil {
		lines = append(lines, row("  95%, exact", func(name string) string { return bounds(s.Intervals[name]) }))
		lines = append(lines, row("  95%, blocks", func(name string) string { return bounds(s.Runs[0].Blocks[name]) }))
	}
	p.table(lines)
}

// brief says how the tail lies in time, in a few lines.
func (p *printer) brief(s *stats.Summary) {
	if s == nil {
		return
	}
	p.printf("signature  %s: %s\n", s.Signature, signatures[s.Signature])
	if s.Period != nil {
		p.printf("  slow stretches begin each %.4g s (p %.2g)\n", s.Period.Seconds, s.Period.P)
	}
	p.printf("  the next request is slow too in %.1f%%, by chance in %.2f%%; ", 100*s.NextInTail, 100*s.NextByChance)
	p.printf("%s\n", burstLine(s))
	p.briefPages(s.Pages)
	p.printf("\n")
	p.steps(s.Steps, maxSteps)
}

// briefPages: a page of calls is slow as soon as one of them is.
func (p *printer) briefPages(pages []stats.Page) {
	if len(pages) < 10 {
		return
	}
	page := pages[9]
	p.printf("  pages with one in the tail: of 10 calls in a row %.1f%% (random calls %.1f%%)", 100*page.InARow, 100*page.AtRandom)
	if len(pages) >= 100 {
		page = pages[99]
		p.printf(", of 100 %.1f%% (%.1f%%)", 100*page.InARow, 100*page.AtRandom)
	}
	p.printf("\n")
}

func burstLine(s *stats.Summary) string {
	if len(s.Bursts) == 0 {
		return "no bursts"
	}
	held := 0
	for _, b := range s.Bursts {
		held += b.Tail
	}
	top := slices.MaxFunc(s.Bursts, func(a, b stats.Burst) int { return cmp.Compare(a.Tail, b.Tail) })
	return fmt.Sprintf("bursts: %d, with %.0f%% of the tail, the largest of %d requests in %s in %s", len(s.Bursts),
		100*float64(held)/float64(max(s.Tail.Count, 1)), top.Tail, Duration(top.EndNs-top.StartNs), inRun(top.Run, fmt.Sprintf("second %d", top.Second)))
}

// fewest picks the attributes with the lowest p where there are too many, in
// their order.
func fewest(list []stats.Attribute, n int) []stats.Attribute {
	if len(list) <= n+1 { // the line that says so would take its place
		return list
	}
	byP := slices.Clone(list)
	slices.SortStableFunc(byP, func(a, b stats.Attribute) int { return cmp.Compare(a.P, b.P) })
	keep := map[string]bool{noneOf: true}
	for _, a := range byP[:n-1] {
		keep[a.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(a stats.Attribute) bool { return !keep[a.Name] })
}
