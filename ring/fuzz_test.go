package ring

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changing is a ring that turns into another at some read, as a hostile
// publisher can make it do.
type changing struct {
	first, second image
	at, reads     int
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	if c.reads > c.at {
		return c.second.ReadAt(p, off)
	}
	return c.first.ReadAt(p, off)
}

// FuzzReader reads arbitrary bytes that change under the reader. A pass gives
// at most as many windows as there are slots, and each of them lies in one of
// the two rings with a good checksum and fields that hold together.
func FuzzReader(f *testing.F) {
	whole := newImage(64)
	whole.put(0, 40)
	copy(whole.slot(3), rawSlot(3, goodSlot()))
	wrapped := newImage(64)
	wrapped.put(0, 200)
	torn := newImage(64)
	torn.put(0, 10)
	torn.slot(4)[100] ^= 1
	torn.u64(int(slotOffset(5, 63)), 11)
	empty := newImage(64)
	empty.head(64)
	f.Add([]byte(whole), []byte(wrapped), 3, false)
	f.Add([]byte(wrapped), []byte(whole), 9, true)
	f.Add([]byte(torn), []byte(torn), 9, true)
	f.Add([]byte(empty), []byte(whole[:HeaderSize]), 6, true)
	f.Fuzz(func(t *testing.T, first, second []byte, at int, fix bool) {
		if fix {
			fixSlots(first)
			fixSlots(second)
		}
		r, err := NewReader(&changing{first: first, second: second, at: at})
		if err != nil {
			return
		}
		var s Slot
		for range 4 {
			for n := 0; r.Next(&s); n++ {
				if n >= r.Header().Slots {
					t.Fatalf("a pass over %d slots goes on", r.Header().Slots)
				}
				off := slotOffset(s.Index, r.mask)
				if !holds(first, off, &s) && !holds(second, off, &s) {
					t.Fatalf("%+v is in neither ring", s)
				}
			}
		}
	})
}

// fixSlots makes slots that say they are complete so, for the fuzzer to get
// beyond the checksum.
func fixSlots(b image) {
	for off := HeaderSize; off+SlotSize <= len(b); off += SlotSize {
		raw := b[off : off+SlotSize]
		if seq := binary.LittleEndian.Uint64(raw); seq > 0 && seq%2 == 0 {
			seal(raw, raw[offType:], seq/2-1)
		}
	}
}

// holds is whether the ring has s at off, by means other than the reader's.
func holds(b image, off int64, s *Slot) bool {
	if int64(len(b)) < off+SlotSize {
		return false
	}
	raw := b[off : off+SlotSize]
	covered := append(append([]byte{}, raw[:8]...), raw[12:]...)
	return binary.LittleEndian.Uint64(raw) == 2*s.Index+2 &&
		binary.LittleEndian.Uint32(raw[8:]) == crc32.ChecksumIEEE(covered) &&
		s.Begin <= s.End && len(s.Points) <= MaxPoints && s.Kind <= MaxNames
}

// FuzzSlot decodes arbitrary bytes; what is good survives encoding and
// decoding again.
func FuzzSlot(f *testing.F) {
	f.Add(rawSlot(5, goodSlot())[offType:])
	f.Add(rawSlot(5, Slot{Type: Span, Begin: 1, End: 1})[offType:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) < SlotSize-offType {
			return
		}
		raw := make([]byte, SlotSize)
		seal(raw, payload[:SlotSize-offType], 5)
		var s, again Slot
		if s.decode(raw, 5, 0) != nil || s.End-s.Begin > maxOffset {
			return
		}
		if err := again.decode(rawSlot(5, s), 5, 0); err != nil {
			t.Fatalf("%+v cannot be read back: %v", s, err)
		}
		if d := cmp.Diff(s, again); d != "" {
			t.Errorf("(-first +again):\n%s", d)
		}
	})
}
