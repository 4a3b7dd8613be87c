// Package report turns a correlate.Result into what people and programs read:
// text, and JSON of the schema tailtrace.explain/1. It adds no judgement of its
// own.
package report

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// Schema names the layout of Explain. Fields may be added to it.
const Schema = "tailtrace.explain/1"

// File is an input, with the digest that ties a report to it.
type File struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// Explain is the whole report. Times are ns, shares 0 to 1.
type Explain struct {
	Schema      string              `json:"schema"`
	Events      File                `json:"events"`
	Rows        []File              `json:"rows"`
	N           int                 `json:"n"`
	Errors      int                 `json:"errors"`
	Warmup      int                 `json:"warmup"`
	Joined      int                 `json:"joined"`
	Percentiles stats.Percentiles   `json:"percentiles_ns"`
	Labels      map[string][]string `json:"labels"`
	Tail        Tail                `json:"tail"`
	Warnings    []string            `json:"warnings"`
	Verdicts    []Verdict           `json:"verdicts"`
	WhatIf      []WhatIf            `json:"what_if"`
	Attributes  []stats.Attribute   `json:"attributes"`
	Stats       *stats.Summary      `json:"stats"` // nil where no request counts
	Requests    []Request           `json:"requests"`
}

// Tail is the slowest Fraction of each run. Threshold is the latency of its
// fastest request.
type Tail struct {
	Fraction  float64 `json:"fraction"`
	Count     int     `json:"count"`
	Threshold int64   `json:"threshold_ns"`
}

// Verdict counts the tail requests that have it.
type Verdict struct {
	Verdict string  `json:"verdict"`
	Count   int     `json:"count"`
	Share   float64 `json:"share"`
}

// Request is one explained request. Parts sum to Latency.
type Request struct {
	ID any `json:"id"` // a number, or text

	Run      string               `json:"run"`
	Kind     string               `json:"kind"`
	Latency  int64                `json:"latency_ns"`
	Begin    int64                `json:"begin_ns"`
	End      int64                `json:"end_ns"`
	Tid      int32                `json:"tid"`
	Tail     bool                 `json:"tail"`
	Verdict  string               `json:"verdict"`
	Mixed    []string             `json:"mixed,omitempty"`
	Had      []string             `json:"had"`
	Parts    map[string]int64     `json:"parts_ns"`
	Excess   map[string]int64     `json:"excess_ns"`
	Evidence []correlate.Evidence `json:"evidence"`
}

// Build makes the report of res.
func Build(res *correlate.Result, events File, rows []File, o correlate.Options) *Explain {
	x := &Explain{
		Schema: Schema, Events: events, Rows: rows, Joined: res.Join.Joined,
		Tail: Tail{Fraction: o.Tail}, Warnings: res.Warnings, Verdicts: []Verdict{}, Requests: []Request{},
	}
	if x.Rows == nil {
		x.Rows = []File{}
	}
	if x.Warnings == nil {
		x.Warnings = []string{}
	}
	attributes := res.Attributes()
	verdicts := map[string]int{}
	var latencies []int64
	var savings []saving
	for _, r := range res.Requests {
		if r.Warmup {
			x.Warmup++
			continue
		}
		latencies = append(latencies, r.Latency())
		if r.Failed() {
			x.Errors++
		}
		if !r.Tail && !o.All {
			continue
		}
		e := res.Explain(r)
		x.Requests = append(x.Requests, request(r, &e, attributes))
		if r.Tail {
			verdicts[e.Verdict]++
			savings = append(savings, saving{len(latencies) - 1, e.Verdict, excessOf(r, &e)})
			x.Tail.add(r.Latency())
		}
	}
	x.N = len(latencies)
	x.Percentiles, x.Labels = stats.PercentilesOf(latencies), stats.Labels(len(latencies))
	x.Verdicts = countVerdicts(verdicts, x.Tail.Count)
	x.WhatIf = whatIf(latencies, savings, x.Verdicts)
	x.addStats(res, attributes, o.Tail)
	return x
}

func (t *Tail) add(latency int64) {
	if t.Count == 0 || latency < t.Threshold {
		t.Threshold = latency
	}
	t.Count++
}

func request(r *correlate.Request, e *correlate.Explanation, attributes []correlate.Attribute) Request {
	out := Request{
		ID: requestID(r), Run: r.Run, Kind: r.Kind, Latency: r.Latency(), Begin: int64(r.Begin), End: int64(r.End),
		Tid: r.Tid(), Tail: r.Tail, Verdict: e.Verdict, Had: correlate.Had(r, attributes),
		Parts: partMap(&r.Parts), Excess: partMap(&e.Excess), Evidence: e.Evidence,
	}
	for _, p := range e.Mixed {
		out.Mixed = append(out.Mixed, p.String())
	}
	if out.Evidence == nil {
		out.Evidence = []correlate.Evidence{}
	}
	return out
}

// requestID is the id as the client wrote it: a number stays a number.
func requestID(r *correlate.Request) any {
	if id := r.ID(); !id.Raw && (r.Row == nil || r.Row.HasID) {
		return binary.LittleEndian.Uint64(id.Bytes[:8])
	}
	return r.Label()
}

// partMap leaves out parts without time.
func partMap(t *part.Times) map[string]int64 {
	m := map[string]int64{}
	for p, ns := range t {
		if ns != 0 {
			m[part.Part(p).String()] = ns
		}
	}
	return m
}

// countVerdicts orders by count. Unexplained is always there, if only as none.
func countVerdicts(counts map[string]int, tail int) []Verdict {
	if tail > 0 && counts[correlate.VerdictUnexplained] == 0 {
		counts[correlate.VerdictUnexplained] = 0
	}
	list := []Verdict{}
	for v, n := range counts {
		list = append(list, Verdict{v, n, float64(n) / float64(max(tail, 1))})
	}
	slices.SortFunc(list, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Verdict, b.Verdict))
	})
	return list
}
