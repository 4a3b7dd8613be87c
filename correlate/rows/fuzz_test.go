package rows

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

// FuzzRead holds every input to: a typed error or a set in which each line
// that is not blank is a row or quarantined, once, no latency is negative, and
// each run is one block.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"testdata/sample.jsonl", "testdata/sample.npz"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"id": "\ud800", "send_ns": 1.5e3, "recv_ns": 9223372036854775807, "a": {"b": [{}], "c": {"d": 1}}}`))
	f.Add([]byte("{\"send_ns\": -1, \"recv_ns\": \"7\", \"run\": 4, \"timeout_ns\": 1e18, \"error\": true}\n{\"send_ns\":NaN,\"recv_ns\":-Infinity}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read("fuzz", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			var lineErr *LineError
			if !errors.As(err, &lineErr) {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		seen := map[int]bool{}
		mark := func(line int) {
			if seen[line] {
				t.Fatalf("line %d is there twice", line)
			}
			seen[line] = true
		}
		for i := range s.Rows {
			mark(s.Rows[i].Line)
			if s.Rows[i].Latency() < 0 {
				t.Fatalf("negative latency: %+v", s.Rows[i])
			}
		}
		for _, bad := range s.Quarantined {
			mark(bad.Line)
		}
		if !bytes.HasPrefix(data, []byte("PK")) {
			for i, line := range bytes.Split(bytes.TrimPrefix(data, bom), []byte("\n")) {
				if blank := len(bytes.TrimSpace(line)) == 0; blank == seen[i+1] {
					t.Fatalf("line %d: blank %v, seen %v", i+1, blank, seen[i+1])
				}
			}
		}
		runs := map[string]bool{}
		for _, run := range s.Runs() {
			if runs[run] {
				t.Fatalf("run %q is in two blocks", run)
			}
			runs[run] = true
		}
		if len(s.Elapsed()) != len(s.Rows) {
			t.Fatal("Elapsed has another length than Rows")
		}
	})
}

func BenchmarkReadJSONL(b *testing.B) {
	data := []byte(series(100_000, 5e12, 1e6, 9e5, 0))
	data = bytes.ReplaceAll(data, []byte("}\n"), []byte(`, "status": 200, "error": "", "warmup": false, "run": "r1", "customer": "c123"}`+"\n"))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Read("bench", bytes.NewReader(data), int64(len(data)))
		if err != nil || len(s.Rows) != 100_000 {
			b.Fatal(err)
		}
	}
}
