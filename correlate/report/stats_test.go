package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

func summaryOf(t *testing.T, runs, each int, more string) *stats.Summary {
	t.Helper()
	var text strings.Builder
	for run := range runs {
		for i := range each {
			send := int64(run*each+i) * 1e6
			latency := 900_000 + i*7919%1000
			if i%1000 < 12 && each > 1000 {
				latency += 300_000
			}
			fmt.Fprintf(&text, `{"id": %d, "send_ns": %d, "recv_ns": %d, "run": "r%d"%s}`+"\n", run*each+i, send, send+int64(latency), run+1, more)
		}
	}
	set, err := rows.Read("rows.jsonl", strings.NewReader(text.String()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stats.Summarize([]*rows.Set{set}, stats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatsTextPutsNotesAboveTheTable(t *testing.T) {
	for name, tc := range map[string]struct {
		s    *stats.Summary
		want []string
	}{
		"few rows": {summaryOf(t, 1, 50, ""), []string{"p99 is nothing but the largest value", "requests  50, 0 failed", "exact", "= max, unstable", "at no period", "no bursts"}},
		"runs with bursts and steps": {summaryOf(t, 3, 4000, `, "steps": {"read": 5}`), []string{"slow requests come together",
			"requests  12000", "range of 3 runs: holds the median run with 75.0%", "r3", "signature", "busiest seconds", "r1 second 0", "bursts: ", "pages of calls", "first 1%", "read"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := StatsText(&out, tc.s); err != nil {
				t.Fatal(err)
			}
			rest := out.String()
			for _, want := range tc.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %q, in order, in:\n%s", want, out.String())
				}
				rest = after
			}
		})
	}
}

func TestStatsTextOfHistogramsEndsWithThePercentiles(t *testing.T) {
	h, err := stats.HistogramOf([]int64{1000, 2000, 3000})
	if err != nil {
		t.Fatal(err)
	}
	s, err := stats.SummarizeLogs(map[string]*stats.HistogramLog{"x.hlog": {Intervals: []stats.LogInterval{{Hist: h}}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := StatsText(&out, s); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "histograms know nothing") || !strings.Contains(text, "p50") || strings.Contains(text, "signature") || strings.Contains(text, "neighbours") {
		t.Error(text)
	}
}
