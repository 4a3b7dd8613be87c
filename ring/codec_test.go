package ring

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rawSlot encodes s as the complete slot of index.
func rawSlot(index uint64, s Slot) []byte {
	var f frame
	f.fill(&s, collect(s.Points))
	raw := make([]byte, SlotSize)
	seal(raw, f[at(offType):], index)
	return raw
}

// seal makes raw the complete slot of index with that payload.
func seal(raw, payload []byte, index uint64) {
	copy(raw[offType:], payload)
	binary.LittleEndian.PutUint64(raw, 2*index+2)
	binary.LittleEndian.PutUint32(raw[offCRC:], checksum(raw))
}

func goodSlot() Slot {
	return Slot{
		Type: Request, Kind: 1, Flags: FlagError, ID: NumberID(7),
		Begin: 1000, End: 2000, CPU: 500, Tid: 11, EndTid: 12,
		Points: []Point{
			{Type: Mark, Name: 2, Offset: 10},
			{Type: Suspend, Offset: 20},
			{Type: Resume, Offset: 30},
			{Type: Thread, Tid: 12, Offset: 30},
		},
	}
}

func TestSlotSurvivesEncoding(t *testing.T) {
	want := goodSlot()
	var got Slot
	if err := got.decode(rawSlot(3, want), 3, 0); err != nil {
		t.Fatal(err)
	}
	want.Index = 3
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestThreadPointMayHaveAName(t *testing.T) {
	want := Slot{Type: Request, End: 10, Points: []Point{{Type: Thread, Name: 48, Offset: 5, Tid: 7}}}
	var got Slot
	if err := got.decode(rawSlot(0, want), 0, 0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestEveryFieldOfASlotIsChecked(t *testing.T) {
	le := binary.LittleEndian
	word := func(i int, w uint64) func([]byte) {
		return func(b []byte) { le.PutUint64(b[offPoints+8*i:], w) }
	}
	set := func(off int, v byte) func([]byte) { return func(b []byte) { b[off] = v } }
	for _, test := range []struct {
		name   string
		change func([]byte)
		offset int64
	}{
		{"type 0", set(offType, 0), offType},
		{"type 3", set(offType, 3), offType},
		{"kind", set(offKind, 61), offKind},
		{"number of points", set(offCount, 25), offCount},
		{"unknown flag", set(offFlags, 32), offFlags},
		{"number of more than 64 bits", set(offID+8, 1), offID + 8},
		{"begin", set(offBegin+7, 0x80), offBegin},
		{"end before begin", func(b []byte) { le.PutUint64(b[offEnd:], 999) }, offEnd},
		{"end negative", set(offEnd+7, 0x80), offEnd},
		{"point type 0", word(0, 0), offPoints},
		{"point type 5", word(0, 5<<56), offPoints},
		{"point's name", word(0, 1<<56|61<<48), offPoints},
		{"point after the end", word(3, 4<<56|1001), offPoints + 24},
		{"points out of order", word(1, 2<<56|9), offPoints + 8},
		{"resume without suspend", word(1, 3<<56|20), offPoints + 8},
		{"suspend twice", word(2, 2<<56|30), offPoints + 16},
		{"thread 0", word(4, 0), offPoints + 32},
		{"thread too large", word(4, 1<<31), offPoints + 32},
		{"thread missing", set(offCount, 4), offPoints + 24},
	} {
		raw := rawSlot(0, goodSlot())
		test.change(raw)
		var s Slot
		err := s.decode(raw, 0, 0)
		var bad *FormatError
		if !errors.Is(err, ErrSlot) || !errors.As(err, &bad) || bad.Offset != test.offset {
			t.Errorf("%s: %v, want a bad slot at offset %d", test.name, err, test.offset)
		}
	}
}

func TestWindowTooLongForOffsetsKeepsItsTimes(t *testing.T) {
	s := goodSlot()
	s.End = s.Begin + maxOffset + 1
	var got Slot
	if err := got.decode(rawSlot(0, s), 0, 0); err != nil {
		t.Fatal(err)
	}
	if got.End != s.End || len(got.Points) != 0 || got.Flags&FlagCut == 0 {
		t.Errorf("%+v, want no points and the flag for that", got)
	}
}

func TestNamesAreCutBetweenCharacters(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain":                   "plain",
		"nul\x00rest":             "nul",
		"bad\xff\xfe":             "bad\uFFFD",
		string(make([]byte, 100)): "",
		"0123456789012345678901234567890123456789012345678901234567890123456789": "0123456789012345678901234567890123456789012345678901234567890123",
		"012345678901234567890123456789012345678901234567890123456789012é":       "012345678901234567890123456789012345678901234567890123456789012",
	} {
		if got := cleanName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
