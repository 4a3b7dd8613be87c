package recheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// measured makes a file of several runs with bursts, failures, equal latencies
// and a warm-up, and what stats says of it.
func measured(t *testing.T) (sets []*rows.Set, claimed []byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	at := int64(5e12)
	for i := range 6500 {
		latency := int64(900+rng.IntN(20)) * 1000
		if i/100%20 == 3 && rng.IntN(4) == 0 {
			latency += 200_000
		}
		fmt.Fprintf(&text, `{"id": %d, "send_ns": %d, "recv_ns": %d, "run": "r%d", "warmup": %v, "status": %d, "steps": {"a": %d, "b": %d}}`+"\n",
			i, at, at+latency, i/3000, i < 500, 200+300*(i%997/996), latency/3, latency/2)
		at += latency + int64(rng.IntN(3e6))
	}
	set, err := rows.Read("rows.jsonl", strings.NewReader(text.String()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	sets = []*rows.Set{set}
	summary, err := stats.Summarize(sets, stats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err = json.Marshal(summary)
	if err != nil {
		t.Fatal(err)
	}
	return sets, claimed
}

func TestBothWaysAgree(t *testing.T) {
	sets, claimed := measured(t)
	d, err := Check(claimed, sets, stats.Options{})
	if err != nil || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}

func TestOneDoctoredPercentileIsNamed(t *testing.T) {
	sets, claimed := measured(t)
	var doc map[string]any
	if err := json.Unmarshal(claimed, &doc); err != nil {
		t.Fatal(err)
	}
	p := doc["percentiles_ns"].(map[string]any)
	p["p99"] = p["p99"].(float64) - 1
	doctored, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Check(doctored, sets, stats.Options{})
	if err != nil || d == nil || d.Path != "percentiles_ns.p99" {
		t.Errorf("%v, %v", d, err)
	}
}

// Whatever number of the document is changed, it is found.
func TestEveryDoctoredNumberIsFound(t *testing.T) {
	_, claimed := measured(t)
	honest, err := decode(claimed)
	if err != nil {
		t.Fatal(err)
	}
	var leaves []string
	walk(honest, "", func(path string, _ func(any)) { leaves = append(leaves, path) })
	if len(leaves) < 300 {
		t.Fatalf("%d numbers", len(leaves))
	}
	for _, path := range leaves {
		doctored, err := decode(claimed)
		if err != nil {
			t.Fatal(err)
		}
		walk(doctored, "", func(at string, set func(any)) {
			if at == path {
				set(json.Number("123456789.5"))
			}
		})
		text, err := json.Marshal(doctored)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Diff(text, json.RawMessage(claimed)); err != nil || d == nil || d.Path != path {
			t.Errorf("%s: %v, %v", path, d, err)
		}
	}
}

// walk calls f for every number in v with a way to change it.
func walk(v any, path string, f func(path string, set func(any))) {
	visit := func(inner string, v any, set func(any)) {
		if _, ok := v.(json.Number); ok {
			f(inner, set)
			return
		}
		walk(v, inner, f)
	}
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			inner := key
			if path != "" {
				inner = path + "." + key
			}
			visit(inner, v[key], func(to any) { v[key] = to })
		}
	case []any:
		for i := range v {
			visit(fmt.Sprintf("%s[%d]", path, i), v[i], func(to any) { v[i] = to })
		}
	}
}

func TestRowsOfAnotherRunAreNoticed(t *testing.T) {
	sets, claimed := measured(t)
	sets[0].Rows = sets[0].Rows[:len(sets[0].Rows)-1]
	if d, err := Check(claimed, sets, stats.Options{}); err != nil || d == nil {
		t.Errorf("%v, %v", d, err)
	}
}

func TestOtherDocumentsAreRefused(t *testing.T) {
	for _, text := range []string{``, `[]`, `{}`, `{"schema": "tailtrace.stats/2"}`} {
		if d, err := Check([]byte(text), nil, stats.Options{}); err == nil {
			t.Errorf("%q: %v", text, d)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, tc := range []struct{ claimed, fresh, path string }{
		{`{"a": 1, "b": 2}`, `{"a": 1}`, ""},
		{`{"a": 1}`, `{"a": 1, "b": 2}`, "b"},
		{`{"a": [1, 2]}`, `{"a": [1, 3]}`, "a[1]"},
		{`{"a": [1, 2]}`, `{"a": [1]}`, "number of a"},
		{`{"a": 1}`, `{"a": [1]}`, "a"},
		{`{"a": {"b": null}}`, `{"a": {"b": 1}}`, "a.b"},
		{`{"a": 0.3333333333333}`, `{"a": 0.33333333333333331}`, ""},
		{`{"a": 0.33333333}`, `{"a": 0.33333333333333331}`, "a"},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, "a"},
		{`{"a": 1.0}`, `{"a": 1}`, ""},
		{`{"a": "x"}`, `{"a": "y"}`, "a"},
		{`{"a": [1]}`, `{"a": "y"}`, "a"},
		{`{"a": {"b": 1}}`, `{"a": null}`, "a"},
	} {
		d, err := Diff([]byte(tc.claimed), json.RawMessage(tc.fresh))
		if err != nil || (d == nil) != (tc.path == "") || d != nil && d.Path != tc.path {
			t.Errorf("%s against %s: %v, %v; want %q", tc.claimed, tc.fresh, d, err, tc.path)
		}
	}
}

func TestExactNoticesWhatWasAdded(t *testing.T) {
	for claimed, path := range map[string]string{
		`{"a": {"b": 1}}`:                     "",
		`{"a": {"b": 1, "c": null}}`:          "",
		`{"a": {"b": 1, "aa": 0}}`:            "a.aa",
		`{"a": {"b": 1}, "d": {"x": [1, 2]}}`: "d",
	} {
		d, err := Exact([]byte(claimed), json.RawMessage(`{"a": {"b": 1}}`))
		if err != nil || (d == nil) != (path == "") || d != nil && d.Path != path {
			t.Errorf("%s: %v, %v; want %q", claimed, d, err, path)
		}
	}
}
