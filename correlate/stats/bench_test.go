package stats

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// hundredThousand is five runs of 20,000 rows with bursts, columns and steps.
func hundredThousand(b *testing.B) []byte {
	w := newWorkload(20)
	for i := range 100_000 {
		latency := w.usual()
		if i/700%13 == 5 && w.rng.Float64() < .2 {
			latency += 100e3
		}
		w.send(latency, fmt.Sprintf(`, "run": "r%d", "customer": "c%d", "gc_ns": %d, "steps": {"read": %d, "predict": %d}`,
			i/20_000, w.rng.IntN(15), i/1000%2*i%7, latency/10, latency/2))
	}
	return []byte(w.text.String())
}

func BenchmarkSummarize100k(b *testing.B) {
	data := hundredThousand(b)
	runtime.GC()
	b.ReportAllocs()
	for b.Loop() {
		set, err := rows.Read("bench", strings.NewReader(string(data)), int64(len(data)))
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := Summarize([]*rows.Set{set}, Options{}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s/summary")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/1e6, "MB-heap")
	}
}
