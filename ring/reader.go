package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	batchSlots = 64      // read with one ReadAt
	passSlots  = 1 << 16 // looked at in one pass; the rest is for the next
	maxWaiting = 256     // slots being written that later passes come back to
	maxDoubts  = 3       // passes with a head that no slot backs
	tornPasses = 3       // passes in which a complete slot's checksum may be wrong
)

// Reader follows a ring that its publisher goes on writing. It reads with
// ReadAt only, so that a publisher that truncates its ring causes an error
// and not a fault. Everything it reads may be a lie: work and memory for one
// pass are bounded whatever the ring holds.
type Reader struct {
	src    io.ReaderAt
	header Header
	names  nameTable
	mask   uint64

	next        uint64 // first index not looked at
	head        uint64 // next index to be claimed, as of this pass
	end         uint64 // where this pass ends
	base        uint64 // head when the reader was made
	doubts      int
	overwritten uint64
	inPass      bool
	waiting     []waitingSlot // passed while being written
	again       []waitingSlot // of those, what this pass has yet to look at

	batch     [batchSlots * SlotSize]byte
	batchFrom uint64
	batchEnd  uint64
	reload    bool // names may be read again

	lost    uint64
	invalid uint64
	problem error
	err     error
}

// waitingSlot is an index whose slot was not complete yet.
type waitingSlot struct {
	index uint64
	torn  int // passes that saw it complete with a wrong checksum
}

// NewReader checks the header of the ring in src. The first pass begins with
// the oldest window that the ring still holds; what was overwritten before
// NewReader does not count as lost. Errors are of type *FormatError where the
// ring is at fault.
func NewReader(src io.ReaderAt) (*Reader, error) {
	var b [HeaderSize]byte
	if _, err := src.ReadAt(b[:], 0); err != nil {
		return nil, fmt.Errorf("read ring header: %w", readError(err, 0))
	}
	header, err := parseHeader(b[:])
	if err != nil {
		return nil, fmt.Errorf("read ring header: %w", err)
	}
	size := int64(HeaderSize + SlotSize*header.Slots)
	if _, err := src.ReadAt(b[:1], size-1); err != nil {
		return nil, fmt.Errorf("read last of %d slots: %w", header.Slots, readError(err, size-1))
	}
	r := &Reader{src: src, header: header, mask: uint64(header.Slots) - 1, names: nameTable{src: src}}
	if err := r.names.load(); err != nil {
		return nil, fmt.Errorf("read ring names: %w", err)
	}
	head, err := r.readHead()
	if err != nil {
		return nil, fmt.Errorf("read ring head: %w", err)
	}
	r.head, r.base = head, head
	if slots := uint64(header.Slots); head > slots {
		if err := r.believe(head); err != nil {
			return nil, fmt.Errorf("read ring head: %w", err)
		}
		r.next = head - slots
		r.overwritten = r.next
	}
	return r, nil
}

// Header returns what the ring said of itself when the reader was made.
func (r *Reader) Header() Header { return r.header }

// Name returns the name of id, "" where it has none. Names of the slots that
// Next returned are known.
func (r *Reader) Name(id uint8) string {
	if int(id) >= len(r.names.names) {
		return ""
	}
	return r.names.names[id]
}

// Lost is the number of windows so far that were overwritten before they
// could be read, or that their writer never finished.
func (r *Reader) Lost() uint64 { return r.lost }

// Overwritten is the number of windows that the ring no longer held when the
// reader was made.
func (r *Reader) Overwritten() uint64 { return r.overwritten }

// Invalid is the number of slots so far that were whole but made no sense,
// and what was wrong with the last of them.
func (r *Reader) Invalid() (uint64, error) { return r.invalid, r.problem }

// Behind is how many windows had been claimed, when the current pass began,
// that Next has not looked at.
func (r *Reader) Behind() uint64 { return r.head - r.next }

// Waiting is the number of windows that were claimed but not complete when
// Next came by. Later passes come back to them until they are overwritten.
func (r *Reader) Waiting() int { return len(r.waiting) + len(r.again) }

// Err is the error that ended reading for good, or nil.
func (r *Reader) Err() error { return r.err }

// Next reads the next window into s. It returns false at the end of a pass,
// which covers what had been published when the pass began; calling it again
// begins another. Windows come in the order of claims, except those that were
// still being written when their turn came.
func (r *Reader) Next(s *Slot) bool {
	if r.err != nil || !r.inPass && !r.beginPass() {
		return false
	}
	for r.err == nil {
		index, torn, ok := r.pick()
		if !ok {
			break
		}
		if r.take(index, torn, s) {
			return true
		}
	}
	r.inPass = false
	return false
}

// pick returns the next index to look at in this pass.
func (r *Reader) pick() (index uint64, torn int, ok bool) {
	if len(r.again) > 0 {
		w := r.again[0]
		r.again = r.again[1:]
		return w.index, w.torn, true
	}
	if r.next == r.end {
		return 0, 0, false
	}
	r.next++
	return r.next - 1, 0, true
}

// beginPass looks how far the head has come.
func (r *Reader) beginPass() bool {
	head, err := r.readHead()
	if err != nil {
		r.err = fmt.Errorf("read ring head: %w", err)
		return false
	}
	r.head = head
	slots := r.mask + 1 // beyond them a slot is overwritten
	if behind := head - r.next; behind > slots {
		if !r.backed(head) {
			return false
		}
		r.lose(behind - slots)
		r.next = head - slots
	}
	r.end = min(head, r.next+passSlots)
	r.again, r.waiting = r.waiting, nil
	r.batchFrom, r.batchEnd = 0, 0
	r.inPass = true
	return true
}

// readHead reads the head until it is at least what was read of it before and
// not more than what is read of it next: a writer or the kernel may copy its
// bytes one by one.
func (r *Reader) readHead() (uint64, error) {
	var b [8]byte
	var head uint64
	for try := range 6 {
		if _, err := r.src.ReadAt(b[:], offHead); err != nil {
			return 0, readError(err, offHead)
		}
		again := binary.LittleEndian.Uint64(b[:])
		if try > 0 && head >= r.head && head <= again && again <= math.MaxInt64/2 {
			return head, nil
		}
		head = again
	}
	return 0, &FormatError{offHead, fmt.Errorf("%w: %d after %d", ErrHead, head, r.head)}
}

// backed is whether a pass may take the head's word that it has overrun the
// reader. A writer may have been stopped before the slot that backs it, so that
// only the last of some doubts in a row is an error.
func (r *Reader) backed(head uint64) bool {
	err := r.believe(head)
	if err == nil {
		r.doubts = 0
		return true
	}
	if r.doubts++; r.doubts == maxDoubts || !errors.Is(err, ErrHead) {
		r.err = err
	}
	return false
}

// believe says whether a head that claims to have overrun the reader is backed
// by a slot that was written in its last round.
func (r *Reader) believe(head uint64) error {
	var b [8]byte
	slots := r.mask + 1
	for i := head - 1; i != head-1-MinSlots; i-- {
		off := slotOffset(i, r.mask)
		if _, err := r.src.ReadAt(b[:], off); err != nil {
			return fmt.Errorf("read slot: %w", readError(err, off))
		}
		if binary.LittleEndian.Uint64(b[:]) > 2*(head-slots) {
			return nil
		}
	}
	return &FormatError{offHead, fmt.Errorf("%w: %d after %d, and no slot was written near it", ErrHead, head, r.next)}
}

// lose counts windows as lost.
func (r *Reader) lose(n uint64) { r.lost += min(n, math.MaxUint64-r.lost) }

// readError makes an error of reading the ring at off one about the ring.
func readError(err error, off int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &FormatError{off, ErrTruncated}
	}
	return &FormatError{off, err}
}
