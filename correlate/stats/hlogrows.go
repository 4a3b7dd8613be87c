package stats

import (
	"errors"
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// LogOf counts rows without warm-up into a histogram log: one interval for
// each second of a run in which requests were sent, tagged with the run.
func LogOf(sets []*rows.Set) (*HistogramLog, error) {
	log := &HistogramLog{}
	for _, r := range runsOf(sets, TailFraction) {
		start := r.rows[0].Send
		for from := 0; from < len(r.rows); {
			second, to := r.send[from]/1e9, from+1
			for to < len(r.rows) && r.send[to]/1e9 == second {
				to++
			}
			h, err := HistogramOf(r.latency[from:to])
			if err != nil {
				return nil, err
			}
			log.Intervals = append(log.Intervals, LogInterval{Tag: tagOf(r.name), Start: start + second*1e9, Length: 1e9, Hist: h})
			from = to
		}
	}
	if len(log.Intervals) == 0 {
		return nil, errors.New("count rows: there are none")
	}
	return log, nil
}

// tagOf is a name without what a tag cannot hold.
func tagOf(name string) string {
	tag := []byte(name)
	for i, c := range tag {
		if c <= ' ' || c == ',' {
			tag[i] = '_'
		}
	}
	return string(tag)
}

// SummarizeLogs tells what histograms can: counts and percentiles. Each tag is
// a run, and a log without tags one. They know nothing of the order of
// requests, so that all about the tail's members and time is absent.
func SummarizeLogs(logs map[string]*HistogramLog) (*Summary, error) {
	parts := map[string][]*hdrhistogram.Histogram{}
	var names []string
	for file, log := range logs {
		for _, interval := range log.Intervals {
			name := interval.Tag
			if name == "" {
				name = rows.FileBase(file)
			} else if len(logs) > 1 {
				name = rows.FileBase(file) + ":" + name
			}
			if parts[name] == nil {
				names = append(names, name)
			}
			parts[name] = append(parts[name], interval.Hist)
		}
	}
	slices.Sort(names)
	s := &Summary{
		Schema: Schema, Signature: SignatureUnknown, Seconds: []Second{}, Bursts: []Burst{},
		Attributes: []Attribute{}, Steps: []StepRow{}, Pages: []Page{},
		Warnings: []string{"histograms know nothing of the order of requests: bursts, pages, attributes and the tail's members cannot be told"},
	}
	var all []*hdrhistogram.Histogram
	var percentiles []Percentiles
	for _, name := range names {
		h, err := MergeHistograms(parts[name]...)
		if err != nil {
			return nil, fmt.Errorf("summarize %s: %w", name, err)
		}
		p := HistogramPercentiles(h)
		all, percentiles = append(all, h), append(percentiles, p)
		s.Runs = append(s.Runs, RunSummary{Run: name, N: p.N, Percentiles: p, Labels: Labels(p.N), Intervals: histogramIntervals(h)})
	}
	whole, err := MergeHistograms(all...)
	if err != nil {
		return nil, fmt.Errorf("summarize histograms: %w", err)
	}
	s.Percentiles = HistogramPercentiles(whole)
	s.N, s.Labels, s.Intervals = s.Percentiles.N, Labels(s.Percentiles.N), histogramIntervals(whole)
	s.AcrossRuns = spreadsOf(percentiles)
	s.warnLabels()
	return s, nil
}

// histogramIntervals are the exact intervals, to the width of a bucket.
func histogramIntervals(h *hdrhistogram.Histogram) map[string]Bounds {
	intervals := map[string]Bounds{}
	for _, quantile := range Quantiles {
		o := IntervalOf(int(h.TotalCount()), quantile.Q)
		var b Bounds
		for i, rank := range []int{o.Low, o.High} {
			if rank >= 1 && int64(rank) <= h.TotalCount() {
				b[i] = &histogramRanks(h, rank)[0]
			}
		}
		intervals[quantile.Name] = b
	}
	return intervals
}
