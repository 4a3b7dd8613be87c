package ring

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Header is what a ring says of itself.
type Header struct {
	Slots   int
	Pid     uint32 // as the service sees itself
	Created int64  // ns
	Service string
}

// encode returns the header as its file begins, without names.
func (h *Header) encode() []byte {
	b := make([]byte, HeaderSize)
	le := binary.LittleEndian
	copy(b[offMagic:], magic)
	le.PutUint32(b[offVersion:], ABIVersion)
	le.PutUint32(b[offHeaderSize:], HeaderSize)
	le.PutUint32(b[offSlotSize:], SlotSize)
	le.PutUint32(b[offSlots:], uint32(h.Slots))
	le.PutUint32(b[offPid:], h.Pid)
	le.PutUint32(b[offClock:], ClockMonotonic)
	le.PutUint64(b[offCreated:], uint64(h.Created))
	copy(b[offService:offService+serviceSize], h.Service)
	return b
}

// parseHeader checks all of the header but its names.
func parseHeader(b []byte) (Header, error) {
	le := binary.LittleEndian
	bad := func(off int64, err error, format string, args ...any) (Header, error) {
		return Header{}, &FormatError{Offset: off, Err: fmt.Errorf("%w: "+format, append([]any{err}, args...)...)}
	}
	if string(b[:len(magic)]) != magic {
		return bad(offMagic, ErrMagic, "%q", b[:len(magic)])
	}
	if v := le.Uint32(b[offVersion:]); v != ABIVersion {
		return bad(offVersion, ErrVersion, "%d, this reader knows %d", v, ABIVersion)
	}
	if n := le.Uint32(b[offHeaderSize:]); n != HeaderSize {
		return bad(offHeaderSize, ErrHeaderSize, "%d, want %d", n, HeaderSize)
	}
	if n := le.Uint32(b[offSlotSize:]); n != SlotSize {
		return bad(offSlotSize, ErrSlotSize, "%d, want %d", n, SlotSize)
	}
	slots := le.Uint32(b[offSlots:])
	if !validSlots(uint64(slots)) {
		return bad(offSlots, ErrSlotCount, "%d, want a power of two from %d to %d", slots, MinSlots, MaxSlots)
	}
	if c := le.Uint32(b[offClock:]); c != ClockMonotonic {
		return bad(offClock, ErrClock, "%d", c)
	}
	service, ok := paddedName(b[offService : offService+serviceSize])
	if !ok {
		return bad(offService, ErrName, "the service's name is not UTF-8")
	}
	return Header{
		Slots:   int(slots),
		Pid:     le.Uint32(b[offPid:]),
		Created: int64(le.Uint64(b[offCreated:])),
		Service: service,
	}, nil
}

func validSlots(n uint64) bool {
	return n >= MinSlots && n <= MaxSlots && n&(n-1) == 0
}

// paddedName is the UTF-8 text before the first NUL of b.
func paddedName(b []byte) (string, bool) {
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name), utf8.Valid(name)
}

// cleanName makes s fit to be written: UTF-8, no NUL, at most NameSize bytes,
// cut between characters.
func cleanName(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= NameSize {
		return s
	}
	end := NameSize
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
