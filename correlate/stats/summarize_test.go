package stats

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// workload writes rows as a client would.
type workload struct {
	text strings.Builder
	rng  *rand.Rand
	id   int
	at   int64 // ns
}

func newWorkload(seed uint64) *workload {
	return &workload{rng: rand.New(rand.NewPCG(seed, 99)), at: 5e12}
}

// send adds one request of the given latency, and more fields as JSON.
func (w *workload) send(latency int64, more string) {
	w.id++
	fmt.Fprintf(&w.text, `{"id": %d, "send_ns": %d, "recv_ns": %d, "status": 200%s}`+"\n", w.id, w.at, w.at+latency, more)
	w.at += latency + 5000
}

// usual is the latency of a request that nothing happened to.
func (w *workload) usual() int64 { return 900e3 + int64(w.rng.NormFloat64()*10e3) }

func (w *workload) set(t testing.TB) *rows.Set {
	t.Helper()
	s, err := rows.Read("raw/"+t.Name()+".jsonl", strings.NewReader(w.text.String()), int64(w.text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func summarize(t testing.TB, options Options, sets ...*rows.Set) *Summary {
	t.Helper()
	s, err := Summarize(sets, options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hasWarning(s *Summary, part string) bool {
	return slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, part) })
}

func TestSummaryOfPeriodicBursts(t *testing.T) {
	w := newWorkload(1)
	for w.at < 5e12+60e9 {
		latency := w.usual()
		if w.at%5e9 < 200e6 && w.rng.Float64() < .5 { // 0.2 s each 5 s
			latency += 300e3
		}
		w.send(latency, "")
	}
	s := summarize(t, Options{}, w.set(t))
	if s.N != w.id || s.Errors != 0 || s.Tail.Count != TailCount(w.id, .01) {
		t.Errorf("n %d, errors %d, tail %+v", s.N, s.Errors, s.Tail)
	}
	if s.Period == nil || s.Period.Seconds < 4.9 || s.Period.Seconds > 5.1 || s.Signature != SignaturePeriodic {
		t.Errorf("period %+v, signature %q, want 5 s and periodic", s.Period, s.Signature)
	}
	if len(s.Bursts) != 12 {
		t.Errorf("%d bursts, want 12", len(s.Bursts))
	}
	for i, b := range s.Bursts {
		if at := float64(b.StartNs-5e12)/1e9 - 5*float64(i); at < -.01 || at > .05 || b.EndNs-b.StartNs > 230e6 {
			t.Errorf("burst %d starts %.3f s late and lasts %d ms", i, at, (b.EndNs-b.StartNs)/1e6)
		}
	}
	if !s.ClosedLoop || !hasWarning(s, "closed loop") || !hasWarning(s, "slow requests come together") {
		t.Errorf("closed loop %v, warnings %q", s.ClosedLoop, s.Warnings)
	}
	if s.NextInTail < .2 || s.Pages[9].InARow > .7*s.Pages[9].Formula || s.Dispersion < 3 {
		t.Errorf("next %g, page of ten %+v, dispersion %g", s.NextInTail, s.Pages[9], s.Dispersion)
	}
	if len(s.Seconds) != 61 && len(s.Seconds) != 60 {
		t.Errorf("%d seconds", len(s.Seconds))
	}
}

func TestSummaryOfRandomStallsIsNeither(t *testing.T) {
	w := newWorkload(2)
	for range 40_000 {
		latency := w.usual()
		if w.rng.Float64() < .02 {
			latency += int64(w.rng.ExpFloat64() * 300e3)
		}
		w.send(latency, "")
	}
	s := summarize(t, Options{}, w.set(t))
	if s.Signature != SignatureNeither || s.Period != nil || len(s.Bursts) > 0 {
		t.Errorf("signature %q, period %+v, bursts %+v", s.Signature, s.Period, s.Bursts)
	}
	if hasWarning(s, "come together") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestSummaryCountsFailuresAndWarmup(t *testing.T) {
	w := newWorkload(3)
	for range 10 {
		w.send(50e6, `, "warmup": true`)
	}
	for i := range 100 {
		switch {
		case i%50 == 7:
			w.send(1e6, `, "error": "deadline exceeded", "timeout_ns": 2000000000`)
		case i%50 == 9:
			w.send(1e6, `, "error": "connection reset"`)
		default:
			w.send(w.usual(), "")
		}
	}
	s := summarize(t, Options{}, w.set(t))
	if s.N != 100 || s.Warmup != 10 || s.Errors != 4 || s.Timeouts != 2 {
		t.Errorf("n %d, warm-up %d, errors %d, timeouts %d", s.N, s.Warmup, s.Errors, s.Timeouts)
	}
	if s.Percentiles.Max != 2e9 || s.Percentiles.P99 != 2e9 {
		t.Errorf("a timed-out row does not count with its timeout: %+v", s.Percentiles)
	}
	if s.Percentiles.P999 != s.Percentiles.Max || !slices.Contains(s.Labels["p99.9"], LabelMax) || !hasWarning(s, "p99.9 is nothing but the largest value") {
		t.Errorf("labels %v, warnings %q", s.Labels, s.Warnings)
	}
}

func TestSummaryOfRepeatsShowsTheirRange(t *testing.T) {
	var sets []*rows.Set
	for i := range 5 {
		w := newWorkload(uint64(10 + i))
		for range 4000 {
			w.send(w.usual()+int64(i)*50e3, "")
		}
		set := w.set(t)
		set.Name = fmt.Sprintf("raw/run%d.jsonl", i+1)
		sets = append(sets, set)
	}
	s := summarize(t, Options{}, sets...)
	var names []string
	for _, r := range s.Runs {
		names = append(names, r.Run)
	}
	if diff := cmp.Diff([]string{"run1", "run2", "run3", "run4", "run5"}, names); diff != "" {
		t.Error(diff)
	}
	spread := s.AcrossRuns["p99"]
	if spread.Min != s.Runs[0].Percentiles.P99 || spread.Max != s.Runs[4].Percentiles.P99 || spread.Median != s.Runs[2].Percentiles.P99 || spread.Coverage != .9375 {
		t.Errorf("%+v", spread)
	}
	if !hasWarning(s, "p99 ranges over") {
		t.Errorf("warnings %q", s.Warnings)
	}
	if s.N != 20_000 || s.Tail.Count != 200 || s.Percentiles.Max != s.Runs[4].Percentiles.Max {
		t.Errorf("n %d, tail %+v", s.N, s.Tail)
	}
}

func TestRunsOfOneNameInSeveralFilesAreToldApart(t *testing.T) {
	w := newWorkload(4)
	for i := range 40 {
		w.send(w.usual(), fmt.Sprintf(`, "run": "r%d"`, i/20))
	}
	a, b := w.set(t), w.set(t)
	a.Name, b.Name = "x/a.jsonl", `x\b.jsonl`
	s := summarize(t, Options{}, a, b)
	var names []string
	for _, r := range s.Runs {
		names = append(names, r.Run)
	}
	if diff := cmp.Diff([]string{"a:r0", "a:r1", "b:r0", "b:r1"}, names); diff != "" {
		t.Error(diff)
	}
}

// The second of a run is counted as burst does it: from when the first request
// that counts was meant to be sent.
func TestSecondsCountFromTheFirstRequestThatCounts(t *testing.T) {
	w := newWorkload(11)
	for range 3 {
		w.send(700e6, `, "warmup": true`)
	}
	for range 4 {
		w.send(900e6, fmt.Sprintf(`, "intended_ns": %d`, w.at-150e6))
	}
	var requests []int
	for _, second := range summarize(t, Options{}, w.set(t)).Seconds {
		requests = append(requests, second.Requests)
	}
	if diff := cmp.Diff([]int{2, 1, 1}, requests); diff != "" { // at 0, 0.9, 1.8 and 2.7 s
		t.Error(diff)
	}
}

func TestShortRunsAreSaidToKnowOnlyTheirMaximum(t *testing.T) {
	w := newWorkload(12)
	for i := range 282 {
		w.send(w.usual(), fmt.Sprintf(`, "run": "r%d"`, i/94))
	}
	s := summarize(t, Options{}, w.set(t))
	if diff := cmp.Diff([]string{LabelMax, LabelUnstable}, s.Runs[1].Labels["p99"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{LabelUnstable}, s.Labels["p99"]); diff != "" {
		t.Error(diff)
	}
	if !hasWarning(s, "in 3 of 3 runs p99 is nothing but the run's largest value") || !hasWarning(s, "p90 and p99: fewer than a hundred values lie beyond") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestGivenFlagsAndStepsGoByTheRowsThatCount(t *testing.T) {
	w := newWorkload(13)
	slow := Flag{Name: "slow"}
	first := Flag{Name: "first 1% of the run"}
	step := Step{Name: "only"}
	for i := range 2200 {
		warmup, latency := i < 200, w.usual()
		if i%100 == 50 {
			latency += 500e3
		}
		slow.Has = append(slow.Has, i%100 == 50 || warmup)
		first.Has = append(first.Has, warmup)
		step.Ns = append(step.Ns, latency/2)
		w.send(latency, fmt.Sprintf(`, "warmup": %v, "steps": {"other": 1}`, warmup))
	}
	s := summarize(t, Options{Flags: []Flag{slow, first}, Steps: []Step{step}}, w.set(t))
	if len(s.Attributes) != 2 || s.Attributes[0].TailShare != 1 || s.Attributes[0].AllShare != .01 || s.Attributes[1].AllShare != 0 {
		t.Errorf("attributes %+v", s.Attributes)
	}
	if len(s.Steps) != 1 || s.Steps[0].Name != "only" || s.Steps[0].TailMedian < 680e3 {
		t.Errorf("steps %+v", s.Steps)
	}
}

func TestServicesOwnTimesSayNothingOfTheLoop(t *testing.T) {
	w := newWorkload(14)
	for range 100 {
		w.send(w.usual(), "")
	}
	s := summarize(t, Options{Windows: true}, w.set(t))
	if s.ClosedLoop || !hasWarning(s, "times are the service's own") {
		t.Errorf("closed loop %v, warnings %q", s.ClosedLoop, s.Warnings)
	}
}

func TestAttributesAndStepsOfRows(t *testing.T) {
	w := newWorkload(5)
	for i := range 20_000 {
		gc, predict, customer := int64(0), 700e3+int64(w.rng.NormFloat64()*8e3), "small"
		read := 50e3 + int64(w.rng.NormFloat64()*1e3)
		if i%500 == 250 {
			gc = 200e3
		}
		if w.rng.Float64() < .3 {
			customer = "large"
		}
		if i%1000 < 5 {
			predict, read = predict*5/4, read*5/4
		}
		w.send(read+predict+gc, fmt.Sprintf(`, "gc_ns": %d, "customer": %q, "steps": {"read": %d, "predict": %d}, "noise": %d, "second": %d, "warm": %v`, gc, customer, read, predict, i*7919%20000, i/2000, i > 5000))
	}
	s := summarize(t, Options{}, w.set(t))
	table := map[string]Attribute{}
	for _, a := range s.Attributes {
		table[a.Name] = a
	}
	if a := table["gc_ns"]; a.P > .02 || a.Ratio < 50 || a.AllShare != .002 {
		t.Errorf("gc: %+v", a)
	}
	for _, name := range []string{"customer = large", "customer = small", "first 1% of the run", "warm = true", "warm = false"} {
		if a, ok := table[name]; !ok || a.P < .01 {
			t.Errorf("%s: %+v, %v", name, a, ok)
		}
	}
	if _, ok := table["noise"]; ok || len(table) != 6 { // nor second = 0, which is no attribute but a time
		t.Errorf("attributes %v", table)
	}
	if len(s.Steps) != 2 || s.Steps[0].Name != "read" || s.Steps[1].Name != "predict" {
		t.Fatalf("steps %+v", s.Steps)
	}
	for _, step := range s.Steps {
		if step.ShuffledRatio > 1.06 || step.Ratio < step.ShuffledRatio {
			t.Errorf("step %+v", step)
		}
	}
	if s.Steps[1].Furthest < s.Steps[0].Furthest {
		t.Errorf("steps %+v: the longest is not the one furthest over", s.Steps)
	}
}

func TestScheduleAndCorrection(t *testing.T) {
	w := newWorkload(6)
	for range 500 {
		w.send(w.usual(), fmt.Sprintf(`, "intended_ns": %d`, w.at-1e6))
	}
	s := summarize(t, Options{}, w.set(t))
	if s.ClosedLoop || s.Percentiles.P50 < 1.8e6 {
		t.Errorf("closed loop %v, %+v", s.ClosedLoop, s.Percentiles)
	}
	if _, err := Summarize([]*rows.Set{w.set(t)}, Options{ExpectedInterval: 1e6}); err == nil || !strings.Contains(err.Error(), "intended_ns") {
		t.Errorf("got %v", err)
	}

	w = newWorkload(7)
	for i := range 500 {
		latency := w.usual()
		if i == 100 {
			latency = 500e6
		}
		w.send(latency, "")
	}
	s = summarize(t, Options{ExpectedInterval: 1e6}, w.set(t))
	if s.Corrected == nil || s.Corrected.Percentiles.P90 < 100e6 || s.Percentiles.P90 > 1e6 || !hasWarning(s, "model") {
		t.Errorf("raw %+v, corrected %+v", s.Percentiles, s.Corrected)
	}
}

func TestSummarizeRefuses(t *testing.T) {
	w := newWorkload(8)
	w.send(1000, `, "warmup": true`)
	for _, tc := range []struct {
		sets    []*rows.Set
		options Options
		want    string
	}{
		{nil, Options{}, "none is left"},
		{[]*rows.Set{w.set(t)}, Options{}, "1 are warm-up"},
		{[]*rows.Set{w.set(t)}, Options{Fraction: -1}, "tail of -1"},
		{[]*rows.Set{w.set(t)}, Options{Fraction: 1.5}, "tail of 1.5"},
	} {
		if _, err := Summarize(tc.sets, tc.options); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want %q", err, tc.want)
		}
	}
}

func TestSummaryJSONHasTheDocumentedFields(t *testing.T) {
	w := newWorkload(9)
	for range 50 {
		w.send(w.usual(), "")
	}
	data, err := json.Marshal(summarize(t, Options{}, w.set(t)))
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"schema", "n", "errors", "timeouts", "warmup", "percentiles_ns", "labels", "intervals_ns", "tail", "next_in_tail", "next_by_chance",
		"seconds", "bursts", "period", "signature", "closed_loop", "pages", "runs", "warnings",
	} {
		if _, ok := doc[field]; !ok {
			t.Errorf("no field %q", field)
		}
	}
	if doc["period"] != nil || doc["bursts"] == nil || doc["seconds"] == nil {
		t.Errorf("period %v, bursts %v", doc["period"], doc["bursts"])
	}
	p := doc["percentiles_ns"].(map[string]any)
	interval := doc["intervals_ns"].(map[string]any)["p99"].([]any)
	if len(p) != 5 || p["p99.9"] == nil || len(interval) != 2 || interval[1] != nil {
		t.Errorf("percentiles %v, interval %v", p, interval)
	}
}
