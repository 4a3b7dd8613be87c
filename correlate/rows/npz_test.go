package rows

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbinet/npyio/npz"
)

// npyFile is the text of a .npy file with the given header fields.
func npyFile(descr, shape string, data any) string {
	header := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
	var out bytes.Buffer
	out.WriteString("\x93NUMPY\x01\x00")
	for _, part := range []any{uint16(len(header)), []byte(header), data} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return out.String()
}

// archive zips files of the given contents.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range files {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// two is an archive of two good rows with the given arrays added or replaced.
func two(t *testing.T, more map[string]string) []byte {
	files := map[string]string{
		"send_ns": npyFile("'<i8'", "(2,)", []int64{100, 200}),
		"recv_ns": npyFile("'<i8'", "(2,)", []int64{150, 290}),
	}
	for name, content := range more {
		if files[name] = content; content == "" {
			delete(files, name)
		}
	}
	return archive(t, files)
}

func TestNpzElementTypes(t *testing.T) {
	for name, tc := range map[string]struct {
		id     string
		labels [2]string
		ids    [2]string // hex of the bytes that count
	}{
		"u1":           {npyFile("'|u1'", "(2,)", []uint8{7, 255}), [2]string{"7", "255"}, [2]string{"07", "ff"}},
		"i4, negative": {npyFile("'<i4'", "(2,)", []int32{7, -5}), [2]string{"7", "-5"}, [2]string{"07", fmt.Sprintf("%x", TextID("-5").Bytes)}},
		"big-endian":   {npyFile("'>u2'", "(2,)", []uint16{0x0100, 0x0200}), [2]string{"1", "2"}, [2]string{"01", "02"}},
		"f8":           {npyFile("'<f8'", "(2,)", []float64{7, 8}), [2]string{"7", "8"}, [2]string{"07", "08"}},
		"f4":           {npyFile("'<f4'", "(2,)", []float32{7, 8}), [2]string{"7", "8"}, [2]string{"07", "08"}},
		"bytes":        {npyFile("'|S3'", "(2,)", []byte("abcd\x00\x00")), [2]string{"abc", "d"}, [2]string{"900150983cd24fb0d6963f7d28e17f72", "8277e0910d750195b448797616e091ad"}},
		"text":         {npyFile("'<U2'", "(2,)", []int32{'a', 0, 'b', 0xe9}), [2]string{"a", "b\u00e9"}, [2]string{"0cc175b9c0f1b6a831c399e269772661", fmt.Sprintf("%x", TextID("b\u00e9").Bytes)}},
		"16 bytes":     {npyFile("'|u1'", "(2, 16)", bytes.Repeat([]byte{0xab}, 32)), [2]string{strings.Repeat("ab", 16), strings.Repeat("ab", 16)}, [2]string{strings.Repeat("ab", 16), strings.Repeat("ab", 16)}},
	} {
		t.Run(name, func(t *testing.T) {
			data := two(t, map[string]string{"id": tc.id})
			s, err := Read("x", bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Rows {
				if got := strings.TrimRight(fmt.Sprintf("%x", s.Rows[i].ID.Bytes), "0"); got != strings.TrimRight(tc.ids[i], "0") {
					t.Errorf("id %d is %s, want %s", i, got, tc.ids[i])
				}
				if s.Rows[i].Label != tc.labels[i] {
					t.Errorf("label %d is %q, want %q", i, s.Rows[i].Label, tc.labels[i])
				}
			}
		})
	}
}

func TestBadNpzIsNamed(t *testing.T) {
	i8 := func(shape string, values ...int64) string { return npyFile("'<i8'", shape, values) }
	for name, tc := range map[string]struct {
		arrays map[string]string
		want   string
	}{
		"no recv":        {map[string]string{"recv_ns": "", "lat": i8("(2,)", 1, 2)}, `there is no array recv_ns; there are: "lat", "send_ns"`},
		"lengths differ": {map[string]string{"status": i8("(3,)", 1, 2, 3)}, "array status has 3 values but send_ns has 2"},
		"two a row":      {map[string]string{"status": i8("(2, 2)", 1, 2, 3, 4)}, "array status has 2 values a row"},
		"cut short":      {map[string]string{"send_ns": i8("(2,)", 1)}, "unexpected EOF"},
		"huge shape":     {map[string]string{"send_ns": i8("(99999999999999,)", 1)}, "larger than"},
		"huge product":   {map[string]string{"status": i8("(4611686018427387904, 8)", 1)}, "larger than"},
		"objects":        {map[string]string{"id": npyFile("'|O'", "(2,)", []byte("xx"))}, "Python objects"},
		"structs":        {map[string]string{"id": npyFile("[('a', '<i8')]", "(2,)", []byte("xx"))}, "not supported"},
		"complex":        {map[string]string{"id": npyFile("'<c16'", "(2,)", []byte("xx"))}, "type c16"},
		"no array":       {map[string]string{"id": "hello"}, "unexpected EOF"},
		"other file":     {map[string]string{"id": "hello, world"}, "not a NumPy array"},
		"text stamps":    {map[string]string{"send_ns": npyFile("'|S1'", "(2,)", []byte("12"))}, "send_ns is not one number a row"},
		"one stamp":      {map[string]string{"send_ns": i8("()", 1)}, "send_ns is not one number a row"},
	} {
		t.Run(name, func(t *testing.T) {
			data := two(t, tc.arrays)
			_, err := Read("x", bytes.NewReader(data), int64(len(data)))
			var lineErr *LineError
			if !errors.As(err, &lineErr) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestNpzQuarantinesRowsAndBroadcastsSingleValues(t *testing.T) {
	nan := npyFile("'<f8'", "(2,)", []uint64{0x4069000000000000 /* 200 */, 0x7ff8000000000000})
	data := two(t, map[string]string{"recv_ns": nan, "run": npyFile("'<U2'", "()", []int32{'r', '7'})})
	s, err := Read("x", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Rows) != 1 || s.Rows[0].Latency() != 100 || s.Rows[0].Run != "r7" {
		t.Errorf("rows %+v", s.Rows)
	}
	if diff := cmp.Diff([]Bad{{2, "no recv_ns, and no timeout_ns to count it with"}}, s.Quarantined); diff != "" {
		t.Error(diff)
	}
}

func TestNpzRowWithoutAnswerCountsWithItsTimeout(t *testing.T) {
	nan := npyFile("'<f8'", "(2,)", []uint64{0x4069000000000000 /* 200 */, 0x7ff8000000000000})
	data := two(t, map[string]string{"recv_ns": nan, "timeout_ns": npyFile("'<f4'", "(2,)", []float32{70, 70})})
	s, err := Read("x", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if r := &s.Rows[1]; r.Latency() != 70 || !r.Timeout || s.Rows[0].Timeout {
		t.Errorf("rows %+v", s.Rows)
	}
}

func TestReadsWhatNpyioWrites(t *testing.T) {
	var out bytes.Buffer
	w := npz.NewWriter(&out)
	for _, array := range []struct {
		name   string
		values any
	}{
		{"id", []uint64{1, 2, 3}}, {"send_ns", []int64{10, 20, 30}}, {"recv_ns", []float64{12, 24, 36}},
		{"warmup", []bool{true, false, false}}, {"status", []uint16{200, 200, 500}},
	} {
		if err := w.Write(array.name, array.values); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Read("x", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{2, 4, 6} {
		if r := &s.Rows[i]; r.Latency() != want || r.Warmup != (i == 0) || r.Failed() != (i == 2) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}
