package ring

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// frame is what a slot's checksum covers, in that order: the complete
// sequence number, then the slot's bytes from its type to its end.
type frame [8 + SlotSize - offType]byte

// at turns an offset in a slot into one in a frame.
func at(slotOffset int) int { return 8 + slotOffset - offType }

// fill encodes s with the points of l. s.Points is not looked at.
func (f *frame) fill(s *Slot, l *points) {
	flags := s.Flags & knownFlags
	n := l.n
	if s.End-s.Begin > maxOffset { // an offset may not have fitted its 48 bits
		n, flags = 0, flags|FlagCut
	}
	if l.cut {
		flags |= FlagCut
	}
	f[at(offType)] = byte(s.Type)
	f[at(offKind)] = s.Kind
	f[at(offCount)] = byte(n)
	f[at(offFlags)] = flags
	copy(f[at(offID):], s.ID[:])
	le := binary.LittleEndian
	le.PutUint64(f[at(offBegin):], uint64(s.Begin))
	le.PutUint64(f[at(offEnd):], uint64(s.End))
	le.PutUint64(f[at(offCPU):], s.CPU)
	le.PutUint32(f[at(offTid):], s.Tid)
	le.PutUint32(f[at(offEndTid):], s.EndTid)
	words := f[at(offPoints):]
	for i, w := range l.words[:n] {
		le.PutUint64(words[8*i:], w)
	}
	clear(words[8*n:])
}

// seal sets the sequence number of a complete slot and returns the checksum.
func (f *frame) seal(seq uint64) uint32 {
	binary.LittleEndian.PutUint64(f[:], seq)
	return crc32.ChecksumIEEE(f[:])
}

// checksum recomputes the CRC of a slot as a reader sees it.
func checksum(raw []byte) uint32 {
	crc := crc32.ChecksumIEEE(raw[offSeq : offSeq+8])
	return crc32.Update(crc, crc32.IEEETable, raw[offType:SlotSize])
}

// decode reads the slot of index out of raw, which holds a whole slot with a
// good checksum, and checks every field by itself. Names are the reader's to
// check. base is the slot's offset in the file, for errors.
func (s *Slot) decode(raw []byte, index uint64, base int64) error {
	le := binary.LittleEndian
	*s = Slot{
		Index:  index,
		Type:   SlotType(raw[offType]),
		Kind:   raw[offKind],
		Flags:  raw[offFlags],
		ID:     [16]byte(raw[offID:]),
		Begin:  int64(le.Uint64(raw[offBegin:])),
		End:    int64(le.Uint64(raw[offEnd:])),
		CPU:    le.Uint64(raw[offCPU:]),
		Tid:    le.Uint32(raw[offTid:]),
		EndTid: le.Uint32(raw[offEndTid:]),
		Points: s.Points[:0],
	}
	bad := func(off int64, format string, args ...any) error {
		return &FormatError{Offset: base + off, Err: fmt.Errorf("%w: "+format, append([]any{ErrSlot}, args...)...)}
	}
	switch {
	case s.Type != Request && s.Type != Span:
		return bad(offType, "type %d", s.Type)
	case s.Kind > MaxNames:
		return bad(offKind, "name id %d", s.Kind)
	case raw[offCount] > MaxPoints:
		return bad(offCount, "%d points", raw[offCount])
	case s.Flags&^knownFlags != 0:
		return bad(offFlags, "flags %#x", s.Flags)
	case s.Flags&FlagRawID == 0 && [8]byte(s.ID[8:]) != [8]byte{}:
		return bad(offID+8, "a number with more than 8 bytes")
	case s.Begin < 0:
		return bad(offBegin, "begin %d", uint64(s.Begin))
	case s.End < s.Begin:
		return bad(offEnd, "end %d before begin %d", uint64(s.End), s.Begin)
	}
	words := raw[offPoints : offPoints+8*int(raw[offCount])]
	if at, err := s.decodePoints(words); err != nil {
		return bad(offPoints+8*int64(at), "point %d: %w", at, err)
	}
	return nil
}

// decodePoints appends the points in words; an error comes with the word's number.
func (s *Slot) decodePoints(words []byte) (int, error) {
	away, last := false, int64(0)
	for i := 0; 8*i < len(words); i++ {
		w := binary.LittleEndian.Uint64(words[8*i:])
		p := Point{Type: wordType(w), Name: uint8(w >> nameShift), Offset: wordOffset(w)}
		if p.Name > MaxNames {
			return i, fmt.Errorf("name id %d", p.Name)
		}
		if p.Offset < last || p.Offset > s.End-s.Begin {
			return i, fmt.Errorf("%d ns after begin, out of order or after the end", p.Offset)
		}
		last = p.Offset
		switch p.Type {
		case Mark:
		case Suspend, Resume:
			if away == (p.Type == Suspend) {
				return i, fmt.Errorf("suspend and resume do not alternate")
			}
			away = !away
		case Thread:
			i++
			if 8*i == len(words) {
				return i - 1, fmt.Errorf("thread id is missing")
			}
			tid := binary.LittleEndian.Uint64(words[8*i:])
			if tid == 0 || tid>>31 != 0 {
				return i, fmt.Errorf("thread id %d", tid)
			}
			p.Tid = uint32(tid)
		default:
			return i, fmt.Errorf("type %d", p.Type)
		}
		s.Points = append(s.Points, p)
	}
	return 0, nil
}
