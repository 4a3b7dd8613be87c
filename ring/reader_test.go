package ring

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// image is a ring in memory, to be written and damaged at will.
type image []byte

func newImage(slots int) image {
	b := make(image, HeaderSize+SlotSize*slots)
	copy(b, (&Header{Slots: slots, Pid: 1, Service: "test"}).encode())
	b.name(1, "one")
	b.name(2, "two")
	return b
}

func (b image) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(b).ReadAt(p, off) }

func (b image) u32(off int, v uint32) { binary.LittleEndian.PutUint32(b[off:], v) }
func (b image) u64(off int, v uint64) { binary.LittleEndian.PutUint64(b[off:], v) }
func (b image) head(v uint64)         { b.u64(offHead, v) }

func (b image) name(id uint32, name string) {
	copy(b[offNames+NameSize*(id-1):], name)
	b.u32(offNameCount, id)
}

// slot returns the bytes of the slot of index.
func (b image) slot(index uint64) []byte {
	mask := uint64(len(b)-HeaderSize)/SlotSize - 1
	return b[slotOffset(index, mask):][:SlotSize]
}

// put writes the windows from..to, whose ids are their indexes.
func (b image) put(from, to uint64) {
	for i := from; i < to; i++ {
		copy(b.slot(i), rawSlot(i, Slot{Type: Request, Kind: 1, ID: NumberID(i), Begin: 1, End: 2}))
	}
	b.head(to)
}

func newReader(t *testing.T, b image) *Reader {
	t.Helper()
	r, err := NewReader(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAll runs one pass and returns copies of what it gave.
func readAll(t testing.TB, r *Reader) []Slot {
	t.Helper()
	var all []Slot
	var s Slot
	for r.Next(&s) {
		c := s
		c.Points = append([]Point(nil), s.Points...)
		all = append(all, c)
	}
	return all
}

// wantPass runs a pass and checks which indexes it gives.
func wantPass(t *testing.T, r *Reader, want ...uint64) {
	t.Helper()
	var got []uint64
	for _, s := range readAll(t, r) {
		got = append(got, s.Index)
	}
	if !slices.Equal(got, want) {
		t.Errorf("windows %d, want %d", got, want)
	}
}

func wantCounts(t *testing.T, r *Reader, lost, invalid uint64) {
	t.Helper()
	if n, why := r.Invalid(); r.Lost() != lost || n != invalid || r.Err() != nil {
		t.Errorf("lost %d, invalid %d (%v), error %v; want lost %d, invalid %d", r.Lost(), n, why, r.Err(), lost, invalid)
	}
}

func span(from, to uint64) (s []uint64) {
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

func TestHeaderErrorsNameWhatAndWhere(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(image) image
		want   error
		offset int64
	}{
		{"empty", func(b image) image { return nil }, ErrTruncated, 0},
		{"short header", func(b image) image { return b[:HeaderSize-1] }, ErrTruncated, 0},
		{"magic", func(b image) image { b[7] = 2; return b }, ErrMagic, 0},
		{"version", func(b image) image { b.u32(8, 2); return b }, ErrVersion, 8},
		{"header size", func(b image) image { b.u32(12, 8192); return b }, ErrHeaderSize, 12},
		{"slot size", func(b image) image { b.u32(16, 128); return b }, ErrSlotSize, 16},
		{"few slots", func(b image) image { b.u32(20, 32); return b }, ErrSlotCount, 20},
		{"many slots", func(b image) image { b.u32(20, 1<<21); return b }, ErrSlotCount, 20},
		{"odd slots", func(b image) image { b.u32(20, 100); return b }, ErrSlotCount, 20},
		{"clock", func(b image) image { b.u32(28, 0); return b }, ErrClock, 28},
		{"service", func(b image) image { b[128] = 0xc0; return b }, ErrName, 128},
		{"name", func(b image) image { b[256+64] = 0xff; return b }, ErrName, 256 + 64},
		{"name count", func(b image) image { b.u32(40, 61); return b }, ErrName, 40},
		{"size", func(b image) image { return b[:len(b)-1] }, ErrTruncated, HeaderSize + 64*SlotSize - 1},
		{"head", func(b image) image { b.head(1 << 63); return b }, ErrHead, 64},
		{"head without slots", func(b image) image { b.head(1000); return b }, ErrHead, 64},
	} {
		_, err := NewReader(test.change(newImage(64)))
		var bad *FormatError
		if !errors.Is(err, test.want) || !errors.As(err, &bad) || bad.Offset != test.offset {
			t.Errorf("%s: %v, want %v at %d", test.name, err, test.want, test.offset)
		}
	}
}

func TestWindowsAreReadOnceAndInOrder(t *testing.T) {
	b := newImage(128)
	r := newReader(t, b)
	wantPass(t, r)
	b.put(0, 1)
	wantPass(t, r, 0)
	wantPass(t, r)
	b.put(1, 100)
	wantPass(t, r, span(1, 100)...)
	b.put(100, 228) // around the end, all slots new
	wantPass(t, r, span(100, 228)...)
	wantPass(t, r)
	wantCounts(t, r, 0, 0)
}

func TestReadingBeginsWithTheOldestWindowThere(t *testing.T) {
	b := newImage(64)
	b.put(0, 100)
	r := newReader(t, b)
	wantPass(t, r, span(36, 100)...)
	wantCounts(t, r, 0, 0)
	if r.Overwritten() != 36 {
		t.Errorf("overwritten %d, want 36", r.Overwritten())
	}
}

func TestOverrunCountsAsLost(t *testing.T) {
	b := newImage(64)
	b.put(0, 10)
	r := newReader(t, b)
	wantPass(t, r, span(0, 10)...)
	b.put(10, 1000)
	wantPass(t, r, span(936, 1000)...)
	wantCounts(t, r, 926, 0)
}

func TestOverrunInMidPassCountsAsLost(t *testing.T) {
	b := newImage(256)
	r := newReader(t, b)
	b.put(0, 256)
	var s Slot
	if !r.Next(&s) {
		t.Fatal(r.Err())
	}
	b.put(256, 356) // the reader holds a copy of the first 64 slots
	wantPass(t, r, append(span(1, 64), span(100, 256)...)...)
	wantCounts(t, r, 36, 0)
	wantPass(t, r, span(256, 356)...)
}

func TestWindowsFromBeforeTheReaderDoNotCountAsLost(t *testing.T) {
	b := newImage(256)
	b.put(0, 256)
	r := newReader(t, b)
	var s Slot
	if !r.Next(&s) {
		t.Fatal(r.Err())
	}
	b.put(256, 356)
	wantPass(t, r, append(span(1, 64), span(100, 256)...)...)
	wantCounts(t, r, 0, 0)
}

func TestSlotBeingWrittenIsWaitedForWhileOthersGoOn(t *testing.T) {
	b := newImage(64)
	r := newReader(t, b)
	b.put(0, 10)
	b.u64(int(slotOffset(4, 63)), 2*4+1)
	b.u64(int(slotOffset(5, 63)), 0) // claimed, not begun
	wantPass(t, r, 0, 1, 2, 3, 6, 7, 8, 9)
	if r.Waiting() != 2 {
		t.Errorf("waiting for %d, want 2", r.Waiting())
	}
	b.put(10, 12)
	wantPass(t, r, 10, 11)
	b.put(4, 5)
	b.head(12)
	wantPass(t, r, 4)
	wantCounts(t, r, 0, 0)

	b.put(12, 69) // the ring comes around to the writer that died in slot 5
	wantPass(t, r, span(12, 69)...)
	wantCounts(t, r, 0, 0)
	b.put(69, 70)
	wantPass(t, r, 69)
	wantCounts(t, r, 1, 0)
	if r.Waiting() != 0 {
		t.Errorf("still waiting for %d", r.Waiting())
	}
}

func TestDeadWritersCannotPileUp(t *testing.T) {
	b := newImage(1024)
	r := newReader(t, b)
	b.head(1000) // none of them written
	wantPass(t, r)
	if r.Waiting() != maxWaiting || r.Lost() != 1000-maxWaiting {
		t.Errorf("waiting for %d, lost %d", r.Waiting(), r.Lost())
	}
}

func TestWrongChecksumIsRetriedThenInvalid(t *testing.T) {
	b := newImage(64)
	r := newReader(t, b)
	b.put(0, 3)
	good := b.slot(1)[offEnd]
	b.slot(1)[offEnd] ^= 1
	wantPass(t, r, 0, 2)
	wantCounts(t, r, 0, 0)
	b.slot(1)[offEnd] = good
	wantPass(t, r, 1)

	b.put(3, 4)
	b.slot(3)[offEnd] ^= 1
	for range tornPasses {
		wantPass(t, r)
	}
	wantCounts(t, r, 0, 1)
	if _, why := r.Invalid(); !strings.Contains(why.Error(), "checksum") {
		t.Errorf("invalid because of %v", why)
	}
}

func TestWindowThatMakesNoSenseIsInvalidAndNotLost(t *testing.T) {
	b := newImage(64)
	r := newReader(t, b)
	b.put(0, 3)
	copy(b.slot(1), rawSlot(1, Slot{Type: Request, Begin: 2, End: 1}))
	copy(b.slot(2), rawSlot(2, Slot{Type: Request, Kind: 3})) // no such name
	wantPass(t, r, 0)
	wantCounts(t, r, 0, 2)
}

func TestNamesThatComeIntoUseLaterAreRead(t *testing.T) {
	b := newImage(64)
	r := newReader(t, b)
	b.name(3, "three")
	b.name(4, "four")
	point := []Point{{Type: Mark, Name: 4, Offset: 0}}
	copy(b.slot(0), rawSlot(0, Slot{Type: Request, Kind: 3, Points: point}))
	b.head(1)
	wantPass(t, r, 0)
	if r.Name(3) != "three" || r.Name(4) != "four" || r.Name(5) != "" || r.Name(255) != "" {
		t.Errorf("names %q %q %q", r.Name(3), r.Name(4), r.Name(5))
	}
	copy(b[offNames+2*NameSize:], "other") // a name never changes
	b.name(5, "\xff")
	copy(b.slot(1), rawSlot(1, Slot{Type: Request, Kind: 5}))
	copy(b.slot(2), rawSlot(2, Slot{Type: Request, Kind: 3}))
	b.head(3)
	wantPass(t, r, 2)
	wantCounts(t, r, 0, 1)
	if r.Name(3) != "three" {
		t.Errorf("name 3 became %q", r.Name(3))
	}
}

func TestTruncationUnderTheReaderIsAnError(t *testing.T) {
	for _, size := range []int64{0, 70, HeaderSize, HeaderSize + 10*SlotSize + 5} {
		b := newImage(64)
		r := newReader(t, b)
		b.put(0, 64)
		r.src = b[:size]
		for range 3 {
			readAll(t, r)
		}
		if !errors.Is(r.Err(), ErrTruncated) {
			t.Errorf("%d bytes: %v, want %v", size, r.Err(), ErrTruncated)
		}
	}
}

func TestPassOverALargeRingIsBounded(t *testing.T) {
	b := newImage(MaxSlots)
	r := newReader(t, b)
	b.put(0, MaxSlots)
	for want := MaxSlots - passSlots; want >= 0; want -= passSlots {
		n := 0
		var s Slot
		for r.Next(&s) {
			n++
		}
		if n != passSlots || r.Behind() != uint64(want) {
			t.Fatalf("%d windows, %d left; want %d, %d left", n, r.Behind(), passSlots, want)
		}
	}
}

func TestReadErrorsKeepTheirCause(t *testing.T) {
	b := newImage(64)
	r := newReader(t, b)
	b.put(0, 1)
	cause := fmt.Errorf("disk on fire")
	r.src = failing{cause}
	readAll(t, r)
	if !errors.Is(r.Err(), cause) {
		t.Errorf("%v, want %v", r.Err(), cause)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
