package eventfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestOtherFilesAreNamed(t *testing.T) {
	for _, test := range []struct{ content, want string }{
		{"", "it is empty"},
		{`{"id": 1, "send_ns": 2}`, "it looks like JSON"},
		{"\n [1]", "it looks like JSON"},
		{"\x1f\x8b\x08\x00", "compressed with gzip"},
		{"\x28\xb5\x2f\xfd\x04", "compressed with zstd"},
		{"PERFILE2\x68", "perf.data"},
		{"TTRING\x00\x01", "request ring"},
		{"PK\x03\x04", "NumPy"},
		{"\x7fELF\x02", "a program"},
		{"id,send_ns\n", `begins with "id,send_"`},
		{"x", `begins with "x"`},
	} {
		_, err := NewReader(strings.NewReader(test.content))
		if !errors.Is(err, ErrNotEvents) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want one with %q", test.content, err, test.want)
		}
	}
}

func TestHeaderCutShortIsCorrupt(t *testing.T) {
	file := writeFile(t, func(*Writer) {})
	header := blockEnds(t, file)[0]
	for size := 1; size < header; size++ {
		_, err := NewReader(bytes.NewReader(file[:size]))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d bytes: error %v", size, err)
		}
	}
}

func TestNewerMajorVersionIsRefusedWithBothVersions(t *testing.T) {
	newer := appendPreamble(nil, Version{2, 3})
	_, err := NewReader(bytes.NewReader(append(newer, "anything else"...)))
	var version *VersionError
	if !errors.As(err, &version) {
		t.Fatalf("error %v", err)
	}
	checkEqual(t, "versions", *version, VersionError{File: Version{2, 3}, Reader: current})
	if !strings.Contains(err.Error(), "version 2.3") || !strings.Contains(err.Error(), "reads version 1") {
		t.Errorf("message %q", err)
	}
}

func TestNewerMinorVersionIsRead(t *testing.T) {
	file := sampleFile(t)
	newer := append(appendPreamble(nil, Version{current.Major, current.Minor + 7}), file[preambleSize:]...)
	checkEqual(t, "contents", readAll(t, bytes.NewReader(newer)), readAll(t, bytes.NewReader(file)))
}

func TestHeaderWithoutHeaderInItIsCorrupt(t *testing.T) {
	w := &Writer{}
	w.zip, _ = newCompressor()
	for name, fr := range map[string]frame{
		"another type of block": {kind: frameEnd},
		"no record":             {kind: frameHeader},
	} {
		w.raw = nil
		_, err := NewReader(bytes.NewReader(w.block(appendPreamble(nil, current), fr)))
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
