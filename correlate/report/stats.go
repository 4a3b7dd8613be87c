package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// StatsFile is the JSON of statistics of rows: they, and what they are of.
type StatsFile struct {
	*stats.Summary
	Rows []File `json:"rows"`
}

// StatsText writes statistics of rows for a person: what to be careful of
// first, then the distribution, the runs, and how the tail lies in time.
func StatsText(w io.Writer, s *stats.Summary) error {
	p := &printer{w: w}
	p.warnings(s.Warnings)
	p.stats(s)
	return p.err
}

// StatsText writes all of the report's statistics.
func (x *Explain) StatsText(w io.Writer) error {
	p := &printer{w: w}
	if x.Stats != nil {
		p.stats(x.Stats)
	}
	return p.err
}

func (p *printer) stats(s *stats.Summary) {
	p.counts(s)
	p.distribution(s)
	p.runs(s)
	p.corrected(s.Corrected)
	if s.Tail.Count == 0 { // from histograms, which know no more
		return
	}
	p.overTime(s)
	p.busySeconds(s.Seconds)
	p.bursts(s)
	p.pages(s.Pages)
	p.attributes(s.Attributes, len(s.Attributes))
	p.steps(s.Steps, len(s.Steps))
}

func (p *printer) counts(s *stats.Summary) {
	if s.Tail.Count == 0 {
		p.printf("requests  %d (histograms do not tell which failed, nor which were warm-up)\n\n", s.N)
		return
	}
	p.printf("requests  %d, %d failed (%.2f%%), of them %d timed out; %d warm-up and %d unusable rows left out\n",
		s.N, s.Errors, 100*float64(s.Errors)/float64(max(s.N, 1)), s.Timeouts, s.Warmup, s.Quarantined)
	p.printf("tail      the slowest %g%% of each run: %d requests, from %s up\n\n",
		100*s.Tail.Fraction, s.Tail.Count, Duration(s.Tail.Threshold))
}

// distribution is of all rows. With one run it shows the intervals from
// within it; with several, those would say too little, and the range of the
// runs stands in their place.
func (p *printer) distribution(s *stats.Summary) {
	if len(s.Runs) == 1 {
		p.oneRun(s)
		return
	}
	p.printf("range of %d runs: holds the median run with %.1f%%\n", len(s.Runs), 100*s.AcrossRuns[stats.Max].Coverage)
	lines := []string{"percentile\tall rows\tlowest run\tmedian run\thighest run\t"}
	for _, q := range append(slices.Clone(stats.Quantiles), stats.Quantile{Name: stats.Max}) {
		spread := s.AcrossRuns[q.Name]
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%s\t%s\t%s", q.Name, Duration(s.Percentiles.Get(q.Name)),
			Duration(spread.Min), Duration(spread.Median), Duration(spread.Max), strings.Join(s.Labels[q.Name], ", ")))
	}
	p.table(lines)
	p.printf("\n")
}

func (p *printer) oneRun(s *stats.Summary) {
	run := s.Runs[0]
	p.printf("95%% intervals: exact takes requests as independent")
	lines := []string{"percentile\tlatency\texact"}
	if run.Block > 0 {
		p.printf("; blocks keeps %d neighbours together (bootstrap)", run.Block)
		lines[0] += "\tblocks"
	}
	p.printf("\n")
	for _, q := range stats.Quantiles {
		line := fmt.Sprintf("  %s\t%s\t%s", q.Name, Duration(s.Percentiles.Get(q.Name)), bounds(run.Intervals[q.Name]))
		if run.Block > 0 {
			line += "\t" + bounds(run.Blocks[q.Name])
		}
		lines = append(lines, line+"\t"+strings.Join(s.Labels[q.Name], ", "))
	}
	p.table(append(lines, "  max\t"+Duration(s.Percentiles.Max)))
	p.printf("\n")
}

// bounds prints an interval; a missing end is open.
func bounds(b stats.Bounds) string {
	if b == (stats.Bounds{}) {
		return ""
	}
	ends := [2]string{"..", ".."}
	for i, end := range b {
		if end != nil {
			ends[i] = Duration(*end)
		}
	}
	return ends[0] + " to " + ends[1]
}

func (p *printer) runs(s *stats.Summary) {
	if len(s.Runs) < 2 {
		return
	}
	lines := []string{"run\trequests\tp50\tp90\tp99\tp99.9\tmax"}
	for _, r := range s.Runs {
		line := fmt.Sprintf("  %s\t%d", Printable(r.Run), r.N)
		for _, q := range stats.Quantiles {
			line += "\t" + Duration(r.Percentiles.Get(q.Name))
		}
		lines = append(lines, line+"\t"+Duration(r.Percentiles.Max))
	}
	p.table(lines)
	p.printf("\n")
}

func (p *printer) corrected(c *stats.Corrected) {
	if c == nil {
		return
	}
	p.printf("model of one request each %s (HdrHistogram's correction), not measured: n %d, mean %s",
		Duration(c.ExpectedIntervalNs), c.N, Duration(int64(c.MeanNs)))
	for _, q := range stats.Quantiles {
		p.printf(", %s %s", q.Name, Duration(c.Percentiles.Get(q.Name)))
	}
	p.printf(", max %s\n\n", Duration(c.Percentiles.Max))
}
