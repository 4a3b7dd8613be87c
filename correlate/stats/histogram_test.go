package stats

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

func TestCorrectionFillsInWhatAStallHid(t *testing.T) {
	c, err := Correct([]int64{5, 6, 5, 20000, 7}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if c.N != 204 || c.Percentiles.P50 != 9807 || c.Percentiles.P99 != 19807 {
		t.Errorf("%+v", c)
	}

	latencies := append(slices.Repeat([]int64{1000}, 10_000), 100_000_000)
	if raw := PercentilesOf(latencies); raw.N != 10_001 || raw.P99 != 1000 {
		t.Errorf("raw: %+v", raw)
	}
	c, err = Correct(latencies, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Percentiles; c.N != 20_000 || p.P50 != 1000 || p.P90 != 80019455 || p.P99 != 98041855 {
		t.Errorf("%+v", c)
	}
	near(t, "mean", c.MeanNs, 25003006.7, .05)
	h, err := correctedHistogram(latencies, 10_000, 100_000_000)
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{1000, 50003967, 80019455, 98041855}
	if diff := cmp.Diff(want, histogramRanks(h, 10_000, 15_000, 18_000, 19_800)); diff != "" {
		t.Error(diff)
	}
}

func TestCorrectionRefusesNonsense(t *testing.T) {
	for _, interval := range []int64{0, -1, 1} {
		if c, err := Correct([]int64{5_000_000_000}, interval); err == nil {
			t.Errorf("interval %d: %+v, want an error", interval, c)
		}
	}
}

func TestHistogramRanksRoundUp(t *testing.T) {
	h, err := HistogramOf(upTo(101))
	if err != nil {
		t.Fatal(err)
	}
	if got := HistogramPercentiles(h); got != (Percentiles{51, 91, 100, 101, 101, 101}) {
		t.Errorf("%+v", got)
	}
	if got := HistogramPercentiles(hdrhistogram.New(1, 100, 3)); got != (Percentiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// Merged histograms must say of all values what one histogram of them says,
// whatever the parts' ranges.
func TestMergedHistogramsEqualTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []int64
	var parts []*hdrhistogram.Histogram
	for i := range 5 {
		part := make([]int64, 1000)
		for j := range part {
			part[j] = int64(rng.ExpFloat64() * math.Pow(10, float64(3+i)))
		}
		h, err := HistogramOf(part)
		if err != nil {
			t.Fatal(err)
		}
		all, parts = append(all, part...), append(parts, h)
	}
	sum, err := MergeHistograms(parts...)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := HistogramOf(all)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(HistogramPercentiles(whole), HistogramPercentiles(sum)); diff != "" {
		t.Error(diff)
	}
	if _, err := MergeHistograms(); err == nil {
		t.Error("merging nothing gives no error")
	}
}

func TestHistogramLogRoundTrip(t *testing.T) {
	data, err := os.ReadFile("testdata/jhiccup.hlog")
	if err != nil {
		t.Fatal(err)
	}
	log, err := ReadHistogramLog(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var parts []*hdrhistogram.Histogram
	for _, interval := range log.Intervals {
		parts = append(parts, interval.Hist)
	}
	sum, err := MergeHistograms(parts...)
	if err != nil {
		t.Fatal(err)
	}
	// As HdrHistogram's own tests have it for this log, which add its
	// histograms of two digits up in one of three.
	if len(parts) != 62 || sum.TotalCount() != 48761 || log.StartTime != 1441812279474e6 {
		t.Errorf("%d histograms of %d values from %d", len(parts), sum.TotalCount(), log.StartTime)
	}
	fine := hdrhistogram.New(1, 3600e9, 3)
	for _, h := range parts {
		fine.Merge(h)
	}
	if p := HistogramPercentiles(fine); p.P999 != 1745879039 || p.Max != 1796210687 {
		t.Errorf("%+v", p)
	}
	if p := HistogramPercentiles(sum); p.P999 != 1745879039+7<<20 || p.Max != 1796210687+7<<20 {
		t.Errorf("to two digits: %+v", p)
	}
	if first := log.Intervals[0]; first.Start != 127e6 || first.Length != 1007e6 {
		t.Errorf("first interval at %d for %d", first.Start, first.Length)
	}

	log.BaseTime = 1441812123250e6
	log.Intervals[3].Tag = "A"
	var out bytes.Buffer
	if err := log.Write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := ReadHistogramLog(&out)
	if err != nil {
		t.Fatal(err)
	}
	equal := cmp.Comparer(func(a, b *hdrhistogram.Histogram) bool { return a.Equals(b) })
	if diff := cmp.Diff(log, again, equal); diff != "" {
		t.Error(diff)
	}
}

func TestBadHistogramLogIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "there is no histogram",
		"# only comments\n":             "there is no histogram",
		"1,2\n":                         "line 1: not start, length",
		"#[StartTime: x]\n":             "line 1",
		"\n0.1,1,2,HISTFAAA\n":          "line 2: decode histogram",
		"Tag=A\n":                       "line 1: not start",
		"1e300,1,1,HISTF\n":             "out of range",
		"id,send_ns,recv_ns,x\n1,2,3,4": "line 1: parse interval start",
	} {
		if _, err := ReadHistogramLog(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	log := &HistogramLog{Intervals: []LogInterval{{Tag: "a b", Hist: hdrhistogram.New(1, 10, 1)}}}
	if err := log.Write(&bytes.Buffer{}); err == nil {
		t.Error("a tag with a space was written")
	}
}

func FuzzReadHistogramLog(f *testing.F) {
	data, err := os.ReadFile("testdata/jhiccup.hlog")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:1200])
	f.Add([]byte("Tag=,1,2,3,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := ReadHistogramLog(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, interval := range log.Intervals {
			p := HistogramPercentiles(interval.Hist)
			if !slices.IsSorted([]int64{p.P50, p.P90, p.P99, p.P999}) {
				t.Fatalf("percentiles %+v do not ascend", p)
			}
		}
	})
}

func TestLogOfRows(t *testing.T) {
	w := newWorkload(30)
	for i := range 6000 {
		w.send(w.usual(), fmt.Sprintf(`, "run": "run %d", "warmup": %v`, i/3000, i < 100))
	}
	set := w.set(t)
	log, err := LogOf([]*rows.Set{set})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := log.Write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := ReadHistogramLog(&out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := SummarizeLogs(map[string]*HistogramLog{"rows.hlog": again})
	if err != nil {
		t.Fatal(err)
	}
	want := summarize(t, Options{}, set)
	if got.N != want.N || len(got.Runs) != 2 || got.Runs[0].Run != "run_0" || got.Runs[0].N != 2900 {
		t.Errorf("n %d, runs %+v", got.N, got.Runs)
	}
	for _, name := range percentileNames() {
		if a, b := got.Percentiles.Get(name), want.Percentiles.Get(name); a < b || float64(a) > 1.001*float64(b) {
			t.Errorf("%s = %d, of the rows %d", name, a, b)
		}
	}
	for _, quantile := range Quantiles {
		for i, end := range got.Intervals[quantile.Name] {
			raw := want.Intervals[quantile.Name][i]
			if (end == nil) != (raw == nil) || end != nil && (*end < *raw || float64(*end) > 1.001*float64(*raw)) {
				t.Errorf("%s: end %d differs", quantile.Name, i)
			}
		}
	}
	if _, err := LogOf(nil); err == nil {
		t.Error("a log of nothing")
	}
	if _, err := SummarizeLogs(nil); err == nil {
		t.Error("a summary of nothing")
	}
}
