package rows

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func readString(t testing.TB, text string) (*Set, error) {
	t.Helper()
	return Read("test", strings.NewReader(text), int64(len(text)))
}

func mustRead(t testing.TB, text string) *Set {
	t.Helper()
	s, err := readString(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readFile(t *testing.T, name string) *Set {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func raw(b string) eventfile.ID {
	id := eventfile.ID{Raw: true}
	copy(id.Bytes[:], b)
	return id
}

func TestJSONLSample(t *testing.T) {
	s := readFile(t, "testdata/sample.jsonl")
	want := []Row{
		{ID: NumberID(1000001), HasID: true, Label: "1000001", Send: 5000000000, Recv: 5000923600, Intended: 5000000000, HasIntended: true, Status: 200, Warmup: true, Run: "r1", Line: 1},
		{ID: raw("\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c"), HasID: true, Label: "0af7651916cd43dd8448eb211c80319c", Send: 5001000000, Recv: 5001949400, Status: 200, Run: "r1", Line: 2},
		{ID: raw("\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"), HasID: true, Label: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Send: 5002000000, Recv: 5002880000, Intended: 5001500000, HasIntended: true, Status: 200, Run: "r1", Line: 3},
		{ID: raw("\x54\x9a\x35\xa2\xf5\x19\xb1\x57\x4e\x8a\x21\x89\x46\x4b\x1b\x21"), HasID: true, Label: "order/77", Send: 5003000000, Recv: 5003900000, Status: 503, Run: "r1", Line: 4},
		{ID: NumberID(1<<64 - 1), HasID: true, Label: "18446744073709551615", Send: 5004000000, Recv: 5004500000, Error: "read: timeout", Timeout: true, TimeoutNs: 2000000, Run: "r2", Line: 5},
		{ID: NumberID(6), HasID: true, Label: "6", Send: 5005000000, Recv: 5006000000, Error: "timeout", Timeout: true, TimeoutNs: 1000000, Run: "r2", Line: 6},
	}
	if diff := cmp.Diff(want, s.Rows, cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Error(diff)
	}
	wantBad := []Bad{{7, "negative latency: recv is 1ms before send"}, {8, "send_ns is not a time: null"}}
	if diff := cmp.Diff(wantBad, s.Quarantined); diff != "" {
		t.Error(diff)
	}
	wantLatency := []int64{923600, 949400, 1380000, 900000, 2000000, 1000000}
	for i := range s.Rows {
		if got := s.Rows[i].Latency(); got != wantLatency[i] {
			t.Errorf("row %d: latency %d, want %d", i, got, wantLatency[i])
		}
	}
	if diff := cmp.Diff([]string{"r1", "r2"}, s.Runs()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"customer", "c7", "c8", "", "", "", ""},
		{"steps.read", "41000", "40500", "", "", "", ""}, {"steps.predict", "702000", "711000", "", "", "", ""},
		{"cached", "", "", "true", "false", "", ""}}, columns(s)); diff != "" {
		t.Error(diff)
	}
}

func TestNpzSample(t *testing.T) {
	s := readFile(t, "testdata/sample.npz")
	if len(s.Rows) != 6 {
		t.Fatalf("%d rows, want 6", len(s.Rows))
	}
	want := Row{ID: NumberID(1000006), HasID: true, Label: "1000006", Send: 5005000000, Recv: 5005905000,
		Intended: 5004995000, HasIntended: true, Status: 503, Error: "bad gateway", Run: "r2é", Line: 6}
	if diff := cmp.Diff(want, s.Rows[5], cmpopts.IgnoreUnexported(Row{})); diff != "" {
		t.Error(diff)
	}
	if !s.Rows[0].Warmup || s.Rows[1].Warmup {
		t.Error("warmup: want the first row only")
	}
	if diff := cmp.Diff([][]string{{"customer", "c7", "c8", "c7", "c8", "c9", "c7"},
		{"steps.0", "0", "2", "4", "6", "8", "10"}, {"steps.1", "1", "3", "5", "7", "9", "11"}}, columns(s)); diff != "" {
		t.Error(diff)
	}
	if want := `array "seed" is not kept`; len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], want) {
		t.Errorf("warnings %q, want one with %q", s.Warnings, want)
	}
}

// columns lists each column's name and its text for each row.
func columns(s *Set) (out [][]string) {
	for _, c := range s.Columns {
		line := []string{c.Name}
		for i := range s.Rows {
			text, _ := c.Text(&s.Rows[i])
			line = append(line, text)
		}
		out = append(out, line)
	}
	return out
}

func TestBadFilesAreNamed(t *testing.T) {
	good := `{"id": 1, "send_ns": 1, "recv_ns": 2}` + "\n"
	for name, tc := range map[string]struct {
		text   string
		line   int
		reason string
	}{
		"empty":           {"", 0, "the file is empty"},
		"blank lines":     {"\n \n\r\n", 0, "there are no rows"},
		"not json":        {good + good + `{"id": 1, "send_ns"`, 3, "not JSON: unexpected end"},
		"csv":             {"id,send_ns,recv_ns\n1,2,3\n", 1, "not JSON"},
		"a number":        {good + "12\n", 2, "not a JSON object"},
		"other fields":    {`{"latency": 3, "when": 4}`, 1, `the row has no id, send_ns, recv_ns; it has: "latency", "when"`},
		"no send":         {good + `{"id": 1, "recv_ns": 4}`, 2, "the row has no send_ns;"},
		"no recv":         {`{"id": 1, "send_ns": 4, "status": 200}`, 1, "the row has no recv_ns;"},
		"nothing":         {`{}`, 1, "it has: nothing"},
		"json array":      {"[" + good + "]", 0, "this is one JSON array"},
		"gzip":            {"\x1f\x8b\x08", 0, "gzip"},
		"npy":             {"\x93NUMPY\x01\x00", 0, "single NumPy array"},
		"cut zip":         {"PK\x03\x04 and so on", 0, "not a complete .npz"},
		"all quarantined": {`{"id": 1, "send_ns": 5, "recv_ns": 2}`, 1, "none of the 1 rows can be used"},
		"long line":       {good + strings.Repeat("x", maxLine+1), 2, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readString(t, tc.text)
			var lineErr *LineError
			if !errors.As(err, &lineErr) {
				t.Fatalf("got %v, want a *LineError", err)
			}
			if lineErr.Line != tc.line || !strings.Contains(lineErr.Reason, tc.reason) || lineErr.File != "test" || lineErr.Hint == "" {
				t.Errorf("got %+v, want line %d and %q", lineErr, tc.line, tc.reason)
			}
		})
	}
}

func TestParseID(t *testing.T) {
	for in, want := range map[string]eventfile.ID{
		`0`:                                      NumberID(0),
		`1000001`:                                {Bytes: [16]byte{0x41, 0x42, 0x0f}},
		`1000001.0`:                              NumberID(1000001),
		`1e6`:                                    NumberID(1000000),
		`18446744073709551615`:                   {Bytes: [16]byte{255, 255, 255, 255, 255, 255, 255, 255}},
		`"00112233445566778899AABBCCDDEEFF"`:     raw("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"),
		`"00112233-4455-6677-8899-aabbccddeeff"`: raw("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"),
		`"0011223-34455-6677-8899-aabbccddeeff"`: raw("\x1b\xfb\x8e\x3c\x69\xaa\xaf\x6a\x13\x7c\x09\x4f\x1e\xd3\xc9\xe7"),
		`"12"`:                                   raw("\xc2\x0a\xd4\xd7\x6f\xe9\x77\x59\xaa\x27\xa0\xc9\x9b\xff\x67\x10"),
		`""`:                                     raw("\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e"),
		`"\u00e9"`:                               raw("\x66\xdd\xcd\x97\xcf\xde\xab\xb2\xf6\xfb\x8a\x99\x9b\x4b\xc7\x6f"),
	} {
		got, err := ParseID([]byte(in))
		if err != nil || got != want {
			t.Errorf("ParseID(%s) = %v, %v; want %v", in, got, err, want)
		}
	}
	if got, err := ParseID([]byte(`-5`)); err != nil || got != TextID("-5") {
		t.Errorf("ParseID(-5) = %v, %v", got, err)
	}
	if got, err := ParseID([]byte(`18446744073709551616`)); err != nil || got != TextID("18446744073709551616") {
		t.Errorf("ParseID(2^64) = %v, %v", got, err)
	}
	for _, in := range []string{`-1.0`, `1.5`, `1e300`, `true`, `{}`, `[1]`, ``} {
		if id, err := ParseID([]byte(in)); err == nil {
			t.Errorf("ParseID(%s) = %v, want an error", in, id)
		}
	}
}

func TestRepeatedAndMissingIDsAreKeptAndReported(t *testing.T) {
	var text strings.Builder
	for i, id := range []string{"1", "2", "1", `"a"`, `"a"`, "null"} {
		fmt.Fprintf(&text, `{"id": %s, "send_ns": %d, "recv_ns": %d}`+"\n", id, 1000*i, 1000*i+500)
	}
	s := mustRead(t, text.String())
	want := []string{
		"1 of 6 rows have no id: they can be joined by time only",
		"2 rows repeat the id of another row (id 1 at line 3); all are kept",
	}
	if diff := cmp.Diff(want, s.Warnings); diff != "" || len(s.Rows) != 6 {
		t.Errorf("%d rows; %s", len(s.Rows), diff)
	}
}

func TestSameIDInAnotherRunIsNoRepeat(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": 1, "recv_ns": 2, "run": "a"}
{"id": 1, "send_ns": 11, "recv_ns": 12, "run": "b"}`)
	if len(s.Warnings) != 0 {
		t.Errorf("warnings %q, want none", s.Warnings)
	}
}

func TestQuarantinedRowLeavesNoValuesBehind(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": "x", "recv_ns": 2, "a": 1, "b": "one"}
{"id": 2, "send_ns": 11, "recv_ns": 12}
{"id": 3, "send_ns": 21, "recv_ns": 22, "a": 3, "b": "three"}`)
	if diff := cmp.Diff([][]string{{"a", "", "3"}, {"b", "", "three"}}, columns(s)); diff != "" {
		t.Error(diff)
	}
}

func TestFieldsInTheWaysThatClientsWriteThem(t *testing.T) {
	for _, tc := range []struct {
		fields string
		want   Row
	}{
		{`"recv_ns": 2, "run": null, "error": null`, Row{}},
		{`"recv_ns": 2, "run": 7, "warmup": 1, "status": "200"`, Row{Run: "7", Warmup: true, Status: 200}},
		{`"recv_ns": 2, "warmup": "true", "error": false`, Row{Warmup: true}},
		{`"recv_ns": 2, "error": true`, Row{Error: "error"}},
		{`"recv_ns": 2, "error": "Read timed out."`, Row{Error: "Read timed out.", Timeout: true}},
		{`"recv_ns": 2, "error": {"code": 7}`, Row{Error: `{"code": 7}`}},
		{`"recv_ns": 2, "timeout": 30`, Row{}},
		{`"recv_ns": 2, "timeout": true, "timeout_ns": "9"`, Row{Timeout: true, TimeoutNs: 9}},
		{`"recv_ns": null, "timeout_ns": 1`, Row{Timeout: true, TimeoutNs: 1}},
		{`"error": "x", "timeout_ns": 1`, Row{Error: "x", Timeout: true, TimeoutNs: 1}},
	} {
		s := mustRead(t, `{"id": 1, "send_ns": 1, `+tc.fields+`}`)
		tc.want.ID, tc.want.HasID, tc.want.Label, tc.want.Line = NumberID(1), true, "1", 1
		tc.want.Send, tc.want.Recv = 1, 2
		if diff := cmp.Diff(tc.want, s.Rows[0], cmpopts.IgnoreUnexported(Row{})); diff != "" {
			t.Errorf("%s: %s", tc.fields, diff)
		}
	}
}
