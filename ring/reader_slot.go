package ring

import (
	"encoding/binary"
	"fmt"
)

// slotState is what a slot turned out to hold of the index that was wanted.
type slotState int

const (
	slotWhole   slotState = iota
	slotWaiting           // not written yet, or being written
	slotTorn              // complete by its number, but the checksum is wrong
	slotOverrun           // already used for a later index
)

func judge(raw []byte, index uint64) slotState {
	seq, want := binary.LittleEndian.Uint64(raw[offSeq:]), 2*index+2
	switch {
	case seq > want:
		return slotOverrun
	case seq < want:
		return slotWaiting
	case binary.LittleEndian.Uint32(raw[offCRC:]) != checksum(raw):
		return slotTorn
	}
	return slotWhole
}

// take reads the slot of index into s and returns whether it is a good one;
// torn is how many passes saw it so before.
func (r *Reader) take(index uint64, torn int, s *Slot) bool {
	raw := r.slot(index)
	if raw == nil {
		return false
	}
	state := judge(raw, index)
	if (state == slotWaiting || state == slotTorn) && len(r.waiting) < maxWaiting {
		if raw = r.readBatch(index, 1); raw == nil {
			return false
		}
		state = judge(raw, index)
	}
	switch state {
	case slotWhole:
		return r.accept(index, raw, s)
	case slotOverrun:
		r.loseIndex(index)
	case slotWaiting:
		r.wait(waitingSlot{index, 0})
	case slotTorn:
		if torn+1 < tornPasses {
			r.wait(waitingSlot{index, torn + 1})
			break
		}
		off := slotOffset(index, r.mask)
		r.reject(&FormatError{off + offCRC, fmt.Errorf("%w: checksum mismatch", ErrSlot)})
	}
	return false
}

// accept decodes a whole slot and checks what it says.
func (r *Reader) accept(index uint64, raw []byte, s *Slot) bool {
	if err := s.decode(raw, index, slotOffset(index, r.mask)); err != nil {
		r.reject(err)
		return false
	}
	err := r.names.use(s.Kind, &r.reload)
	for i := 0; i < len(s.Points) && err == nil; i++ {
		err = r.names.use(s.Points[i].Name, &r.reload)
	}
	if err != nil {
		r.reject(err)
		return false
	}
	return true
}

func (r *Reader) reject(err error) {
	r.invalid++
	r.problem = err
}

// wait leaves a slot to the next pass, unless it has been overwritten or too
// many are waited for.
func (r *Reader) wait(w waitingSlot) {
	if r.head-w.index > r.mask+1 || len(r.waiting) == maxWaiting {
		r.loseIndex(w.index)
		return
	}
	r.waiting = append(r.waiting, w)
}

// loseIndex counts one window as lost if it was published under this reader.
func (r *Reader) loseIndex(index uint64) {
	if index >= r.base {
		r.lose(1)
	}
}

// slot returns the bytes of the slot of index, which stay good until the next
// call, or nil after setting r.err.
func (r *Reader) slot(index uint64) []byte {
	if index >= r.batchFrom && index < r.batchEnd {
		return r.batch[SlotSize*(index-r.batchFrom):][:SlotSize]
	}
	if index != r.next-1 { // one that was waited for
		return r.readBatch(index, 1)
	}
	slots := r.mask + 1
	return r.readBatch(index, min(batchSlots, r.end-index, slots-index&r.mask))
}

// readBatch reads n slots from index on and returns the first.
func (r *Reader) readBatch(index, n uint64) []byte {
	off := slotOffset(index, r.mask)
	if _, err := r.src.ReadAt(r.batch[:n*SlotSize], off); err != nil {
		r.err = fmt.Errorf("read slots: %w", readError(err, off))
		return nil
	}
	r.batchFrom, r.batchEnd = index, index+n
	r.reload = true
	return r.batch[:SlotSize]
}
