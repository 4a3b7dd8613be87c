package report

import (
	"slices"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// WhatIf is what the percentiles would be if the excess of one verdict's cause
// were taken out of the requests that have the verdict. It is arithmetic on
// what was recorded, not a promise: without one cause a request can meet
// another.
type WhatIf struct {
	Verdict string `json:"verdict"`
	P99     int64  `json:"p99_ns"`
	P999    int64  `json:"p99.9_ns"`
}

// saving is what one request would be shorter by.
type saving struct {
	index   int // into the latencies
	verdict string
	ns      int64
}

// whatIf recomputes the percentiles for each verdict of the table.
func whatIf(latencies []int64, savings []saving, verdicts []Verdict) []WhatIf {
	list := []WhatIf{}
	for _, v := range verdicts {
		if v.Count == 0 || v.Verdict == correlate.VerdictUnexplained || v.Verdict == correlate.VerdictIncomplete {
			continue
		}
		without := slices.Clone(latencies)
		for _, s := range savings {
			if s.verdict == v.Verdict {
				without[s.index] -= s.ns
			}
		}
		p := stats.PercentilesOf(without)
		list = append(list, WhatIf{v.Verdict, p.P99, p.P999})
	}
	return list
}

// excessOf is the part of a request's excess that its verdict speaks of, ns.
func excessOf(r *correlate.Request, e *correlate.Explanation) int64 {
	at := func(p part.Part) int64 { return max(e.Excess[p], 0) }
	switch e.Verdict {
	case correlate.VerdictSlowStep, correlate.VerdictSlowCore, correlate.VerdictMoreWork:
		return at(part.Running)
	case correlate.VerdictQueued:
		return at(part.OtherRequest)
	case correlate.VerdictMixed:
		var sum int64
		for _, p := range e.Mixed {
			sum += at(p)
		}
		return sum
	case part.Fault.String():
		return at(part.Fault) + min(trapEstimate(e), at(part.Running))
	case r.SpanName:
		return max(r.Spans-r.Group().Base.Spans, 0)
	}
	for p := range part.Count {
		if part.Part(p).String() == e.Verdict {
			return at(part.Part(p))
		}
	}
	return 0
}

func trapEstimate(e *correlate.Explanation) int64 {
	for i := range e.Evidence {
		if e.Evidence[i].What == correlate.EvidenceFaultTrap {
			return e.Evidence[i].NS
		}
	}
	return 0
}
