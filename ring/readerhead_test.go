package ring

import (
	"encoding/binary"
	"errors"
	"testing"
)

func TestHeadThatLiesEndsReading(t *testing.T) {
	for name, head := range map[string]uint64{"back": 9, "huge": 1 << 63, "far": 1 << 40, "all": 1<<64 - 1} {
		b := newImage(64)
		b.put(0, 10)
		r := newReader(t, b)
		wantPass(t, r, span(0, 10)...)
		b.head(head)
		for range maxDoubts {
			wantPass(t, r)
		}
		var bad *FormatError
		if !errors.Is(r.Err(), ErrHead) || !errors.As(r.Err(), &bad) || bad.Offset != offHead {
			t.Errorf("%s: %v, want a bad head", name, r.Err())
		}
		b.put(10, 11)
		wantPass(t, r)
	}
}

func TestHeadIsDoubtedBeforeItIsAnError(t *testing.T) {
	b := newImage(64)
	b.put(0, 10)
	r := newReader(t, b)
	wantPass(t, r, span(0, 10)...)
	b.head(1000) // its writer is stopped before the slot
	for range maxDoubts - 1 {
		wantPass(t, r)
	}
	b.put(999, 1000)
	wantPass(t, r, 999)
	if r.Err() != nil {
		t.Error(r.Err())
	}
}

// tearingHead gives the bytes of the head half old, half new, now and then.
type tearingHead struct {
	image
	torn map[int]uint64 // by number of the read
	n    int
}

func (h *tearingHead) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.image.ReadAt(p, off)
	if off == offHead && len(p) == 8 {
		if v, ok := h.torn[h.n]; ok {
			binary.LittleEndian.PutUint64(p, v)
		}
		h.n++
	}
	return n, err
}

func TestHeadReadInTheMiddleOfAStoreIsReadAgain(t *testing.T) {
	for name, torn := range map[string]map[int]uint64{
		"low bytes first":       {2: 0x000},
		"high bytes first":      {2: 0x1ff},
		"twice":                 {2: 0x1ff, 3: 0x000},
		"in the second reading": {3: 0x000},
	} {
		b := newImage(512)
		b.put(0, 0xff)
		h := &tearingHead{image: b, torn: torn}
		r, err := NewReader(h)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b.put(0xff, 0x100)
		if got := len(readAll(t, r)); got != 0x100 || r.Err() != nil || r.Lost() != 0 || r.Waiting() != 0 {
			t.Errorf("%s: %d windows, lost %d, waiting for %d, %v", name, got, r.Lost(), r.Waiting(), r.Err())
		}
	}
}
