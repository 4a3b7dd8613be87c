package stats_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
	"github.com/tailtrace/tailtrace/correlate/stats/recheck"
)

var update = flag.Bool("update", false, "write testdata/sample.json anew")

// The frozen sample: every later version must say the same of these rows.
func TestFrozenSample(t *testing.T) {
	data, err := os.ReadFile("testdata/sample.npz")
	if err != nil {
		t.Fatal(err)
	}
	set, err := rows.Read("sample.npz", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := stats.Summarize([]*rows.Set{set}, stats.Options{ExpectedInterval: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/sample.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	frozen, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	if d, err := recheck.Diff(text, json.RawMessage(frozen)); err != nil || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}
