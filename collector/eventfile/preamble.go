package eventfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The preamble opens a file. It will be the same in every version: a reader
// of any age can tell what it has before it.
const (
	fileMagic    = "\x89TTEV\r\n\x1a"
	preambleSize = 16
)

// current is the version that this package writes.
var current = Version{Major: 1, Minor: 1}

func appendPreamble(b []byte, v Version) []byte {
	start := len(b)
	b = append(b, fileMagic...)
	b = binary.LittleEndian.AppendUint16(b, v.Major)
	b = binary.LittleEndian.AppendUint16(b, v.Minor)
	return binary.LittleEndian.AppendUint32(b, checksum(b[start:]))
}

// parsePreamble checks the first bytes of a file, of which b may have fewer
// than a preamble and more.
func parsePreamble(b []byte) error {
	magic := b[:min(len(b), len(fileMagic))]
	if len(b) == 0 || string(magic) != fileMagic[:len(magic)] {
		return notEvents(b)
	}
	if len(b) < preambleSize {
		return &CorruptError{Offset: int64(len(b)), Reason: "the header is cut short"}
	}
	v := Version{binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint16(b[10:])}
	if binary.LittleEndian.Uint32(b[12:]) != checksum(b[:12]) {
		return &CorruptError{Offset: 0, Reason: "the checksum of the version does not match"}
	}
	if v.Major != current.Major {
		return &VersionError{File: v, Reader: current}
	}
	return nil
}

func notEvents(b []byte) error {
	for _, known := range [...]struct{ prefix, what string }{
		{"PERFILE2", "it is a perf.data file"},
		{"\x1f\x8b", "it is compressed with gzip"},
		{"\x28\xb5\x2f\xfd", "it is compressed with zstd"},
		{"TTRING", "it is a request ring"},
		{"PK\x03\x04", "it is a zip archive, or arrays of NumPy"},
		{"\x7fELF", "it is a program"},
	} {
		if bytes.HasPrefix(b, []byte(known.prefix)) {
			return fmt.Errorf("%w: %s", ErrNotEvents, known.what)
		}
	}
	text := bytes.TrimLeft(b, " \t\r\n")
	switch {
	case len(b) == 0:
		return fmt.Errorf("%w: it is empty", ErrNotEvents)
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return fmt.Errorf("%w: it looks like JSON", ErrNotEvents)
	}
	return fmt.Errorf("%w: it begins with %q", ErrNotEvents, b[:min(len(b), 8)])
}
