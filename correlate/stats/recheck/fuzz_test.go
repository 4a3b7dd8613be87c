package recheck

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// FuzzSummarize makes rows of bytes, two for each row, and holds what is said
// of them to what must hold of any rows: both ways of computing agree, counts
// add up, percentiles ascend, and shares are shares.
func FuzzSummarize(f *testing.F) {
	f.Add([]byte("\x00\x01"), uint8(1))
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz0123456789"), uint8(10))
	f.Add([]byte(strings.Repeat("\x01\x02\xf0\x03", 200)), uint8(29))
	f.Fuzz(func(t *testing.T, data []byte, percent uint8) {
		var text strings.Builder
		at := int64(0)
		for i := 0; i+1 < len(data) && i < 4000; i += 2 {
			shape, latency := data[i], int64(data[i+1])<<(data[i]&15)
			at += int64(shape>>4) << 20
			fmt.Fprintf(&text, `{"id": %d, "send_ns": %d, "recv_ns": %d, "run": "%d", "warmup": %v, "error": %q}`+"\n",
				i, at, at+latency, i*3/len(data), shape == 7, []string{"", "timeout", "reset"}[max(0, int(shape)-253)])
		}
		set, err := rows.Read("fuzz", strings.NewReader(text.String()), int64(text.Len()))
		if err != nil {
			return
		}
		options := stats.Options{Fraction: float64(percent%100+1) / 100}
		s, err := stats.Summarize([]*rows.Set{set}, options)
		if err != nil {
			return
		}
		claimed, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Check(claimed, []*rows.Set{set}, options); err != nil || d != nil {
			t.Fatalf("%v, %v", d, err)
		}
		if s.N+s.Warmup != len(set.Rows) || s.Timeouts > s.Errors || s.Errors > s.N {
			t.Fatalf("%d counted, %d failed and %d timed out, %d warm-up, of %d", s.N, s.Errors, s.Timeouts, s.Warmup, len(set.Rows))
		}
		p := s.Percentiles
		if !slices.IsSorted([]int64{0, p.P50, p.P90, p.P99, p.P999, p.Max}) {
			t.Fatalf("%+v", p)
		}
		shares := []float64{s.NextInTail, s.NextByChance}
		for _, page := range s.Pages {
			shares = append(shares, page.InARow, page.AtRandom, page.Formula)
		}
		for _, a := range s.Attributes {
			shares = append(shares, a.P, a.PShift, a.TailShare, a.AllShare)
		}
		if slices.Min(shares) < -1e-12 || slices.Max(shares) > 1+1e-12 {
			t.Fatalf("shares %v", shares)
		}
		tail := 0
		for _, second := range s.Seconds {
			tail += second.Tail
		}
		if len(s.Seconds) > 0 && tail != s.Tail.Count {
			t.Fatalf("%d of the %d in the tail are in no second", s.Tail.Count-tail, s.Tail.Count)
		}
	})
}
