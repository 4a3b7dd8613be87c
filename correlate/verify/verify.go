// Package verify holds reports against the files that they are of: every number
// is recomputed, the statistics also by ways of their own (package recheck).
package verify

import (
	"encoding/json"
	"fmt"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
	"github.com/tailtrace/tailtrace/correlate/stats/recheck"
)

// Files holds the digests that a report names against those of the files at
// hand. The files must be in the report's order.
func Files(doc *report.Document, events report.File, rowFiles []report.File) *recheck.Difference {
	if x := doc.Explain; x != nil && x.Events.SHA256 != events.SHA256 {
		return &recheck.Difference{Path: "events.sha256", Claimed: x.Events.SHA256, Recomputed: events.SHA256}
	}
	for i, f := range doc.Rows {
		if i < len(rowFiles) && f.SHA256 != rowFiles[i].SHA256 {
			return &recheck.Difference{Path: fmt.Sprintf("rows[%d].sha256", i), Claimed: f.SHA256, Recomputed: rowFiles[i].SHA256}
		}
	}
	if len(doc.Rows) != len(rowFiles) {
		return &recheck.Difference{Path: "number of rows", Claimed: len(doc.Rows), Recomputed: len(rowFiles)}
	}
	return nil
}

// Explain recomputes a report of explain from the recording and its rows, which
// must be named as in the report. It is nil where all numbers agree.
func Explain(doc *report.Document, open correlate.Opener, sets []*rows.Set) (*recheck.Difference, error) {
	o := correlate.Options{Tail: doc.Explain.Tail.Fraction}
	if !(o.Tail > 0 && o.Tail <= 1) {
		return &recheck.Difference{Path: "tail.fraction", Claimed: o.Tail, Recomputed: "a share"}, nil
	}
	for i := range doc.Explain.Requests {
		o.All = o.All || !doc.Explain.Requests[i].Tail
	}
	res, err := correlate.Analyze(open, sets, o)
	if err != nil {
		return nil, fmt.Errorf("explain again: %w", err)
	}
	return compare(doc, res, o)
}

func compare(doc *report.Document, res *correlate.Result, o correlate.Options) (*recheck.Difference, error) {
	options := report.StatsOptions(res, o.Tail)
	if d, err := recheck.Diff(doc.Text, fromRows(res.Sets, options, o.All)); d != nil || err != nil {
		return d, err
	}
	if doc.Stats != nil {
		var raw struct{ Stats json.RawMessage }
		if err := json.Unmarshal(doc.Text, &raw); err != nil {
			return nil, fmt.Errorf("parse the statistics: %w", err)
		}
		d, err := recheck.Check(raw.Stats, res.Sets, options)
		if d != nil {
			d.Path = "stats." + d.Path
		}
		if d != nil || err != nil {
			return d, err
		}
	}
	fresh := report.Build(res, doc.Explain.Events, doc.Explain.Rows, o)
	if d, err := recheck.Exact(doc.Text, fresh); d != nil || err != nil {
		return d, err
	}
	return sums(doc.Explain), nil
}

// fromRows is what a report must say by its rows alone.
func fromRows(sets []*rows.Set, options stats.Options, all bool) map[string]any {
	doc := recheck.Recompute(sets, options)
	own := map[string]any{"requests": requests(sets, options.Fraction, all)}
	for _, name := range []string{"n", "errors", "warmup", "labels", "percentiles_ns", "tail", "attributes"} {
		own[name] = doc[name]
	}
	if doc["n"] == 0 { // then nothing is held against a tail
		own["attributes"] = []any{}
	}
	return own
}

type request struct {
	Latency int64 `json:"latency_ns"`
	Begin   int64 `json:"begin_ns"`
	End     int64 `json:"end_ns"`
	Tail    bool  `json:"tail"`
}

// requests are those of every run's tail, or all, in the order of the rows.
func requests(sets []*rows.Set, fraction float64, all bool) []request {
	list := []request{}
	for _, s := range sets {
		of := map[string][]request{}
		latencies := map[string][]int64{}
		for i := range s.Rows {
			r := &s.Rows[i]
			if r.Warmup {
				continue
			}
			begin := r.Send
			if r.HasIntended {
				begin = r.Intended
			}
			of[r.Run] = append(of[r.Run], request{r.Latency(), begin, begin + r.Latency(), false})
			latencies[r.Run] = append(latencies[r.Run], r.Latency())
		}
		for _, run := range s.Runs() {
			tail, _ := recheck.Tail(latencies[run], fraction)
			for i, in := range tail {
				if in || all {
					of[run][i].Tail = in
					list = append(list, of[run][i])
				}
			}
		}
	}
	return list
}

// sums holds a report against itself: parts sum to the latency, verdicts to the
// tail.
func sums(x *report.Explain) *recheck.Difference {
	counts := map[string]int{}
	for i := range x.Requests {
		r := &x.Requests[i]
		var sum int64
		for _, ns := range r.Parts {
			sum += ns
		}
		if sum != r.Latency {
			return &recheck.Difference{Path: fmt.Sprintf("sum of requests[%d].parts_ns", i), Claimed: r.Latency, Recomputed: sum}
		}
		if r.Tail {
			counts[r.Verdict]++
		}
	}
	for i, v := range x.Verdicts {
		if v.Count != counts[v.Verdict] {
			return &recheck.Difference{Path: fmt.Sprintf("verdicts[%d].count", i), Claimed: v.Count, Recomputed: counts[v.Verdict]}
		}
	}
	return nil
}

// Stats recomputes statistics of rows, which must be named as in the report.
func Stats(doc *report.Document, sets []*rows.Set) (*recheck.Difference, error) {
	options := stats.Options{Fraction: doc.Stats.Tail.Fraction}
	if c := doc.Stats.Corrected; c != nil {
		options.ExpectedInterval = c.ExpectedIntervalNs
	}
	if d, err := recheck.Check(doc.Text, sets, options); d != nil || err != nil {
		return d, err
	}
	s, err := stats.Summarize(sets, options)
	if err != nil {
		return nil, fmt.Errorf("summarize again: %w", err)
	}
	return recheck.Exact(doc.Text, report.StatsFile{Summary: s, Rows: doc.Rows})
}

// Logs recomputes statistics of histogram logs, by file as in the report.
func Logs(doc *report.Document, logs map[string]*stats.HistogramLog) (*recheck.Difference, error) {
	s, err := stats.SummarizeLogs(logs)
	if err != nil {
		return nil, fmt.Errorf("summarize again: %w", err)
	}
	return recheck.Exact(doc.Text, report.StatsFile{Summary: s, Rows: doc.Rows})
}
