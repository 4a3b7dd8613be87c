package eventfile

import (
	"encoding/binary"
	"math"
)

// recordBlock collects records that are not kernel events.
type recordBlock struct {
	records     []byte
	body        []byte // of the record being added; scratch
	strings     dict[string]
	stringBytes int
	longList    bool // the record being added has a list over the limit

	base        Time // what times are relative to: the last of the block before
	first, last Time
	count       uint32
	lost        uint64
}

func (b *recordBlock) reset() {
	b.strings.reset()
	base := b.base
	if b.last != 0 {
		base = b.last
	}
	*b = recordBlock{records: b.records[:0], body: b.body, strings: b.strings, base: base}
}

func (b *recordBlock) empty() bool { return len(b.records) == 0 }

func (b *recordBlock) size() int { return len(b.records) + b.stringBytes }

// add appends a record, or leaves the block as it was if there is no room.
func (b *recordBlock) add(t recordType, r record) error {
	before := *b
	b.body = b.body[:0]
	r.walk((*recordEncoder)(b))
	b.records = binary.AppendUvarint(b.records, uint64(t))
	b.records = binary.AppendUvarint(b.records, uint64(len(b.body)))
	b.records = append(b.records, b.body...)
	if b.longList || b.size() > maxBlock/2 || len(b.strings.list) > maxDict {
		b.strings.truncate(len(before.strings.list))
		*b = before
		return ErrTooLarge
	}
	b.count++
	if l, ok := r.(*Loss); ok {
		b.lost = addSaturating(b.lost, l.Count)
	}
	return nil
}

// content appends the block's columns to raw.
func (b *recordBlock) content(raw []byte) []byte {
	raw = appendColumn(raw, colStrings, appendStrings(nil, b.strings.list))
	raw = appendColumn(raw, colBase, binary.AppendUvarint(nil, uint64(b.base)))
	return appendColumn(raw, colRecords, b.records)
}

// recordEncoder is the coder that writes into a block's body.
type recordEncoder recordBlock

func (e *recordEncoder) uint64(v *uint64) { e.body = binary.AppendUvarint(e.body, *v) }
func (e *recordEncoder) int64(v *int64)   { e.body = binary.AppendVarint(e.body, *v) }

func (e *recordEncoder) uint8(v *uint8)      { e.body = append(e.body, *v) }
func (e *recordEncoder) uint32(v *uint32)    { e.body = binary.AppendUvarint(e.body, uint64(*v)) }
func (e *recordEncoder) int32(v *int32)      { e.body = binary.AppendVarint(e.body, int64(*v)) }
func (e *recordEncoder) bytes16(v *[16]byte) { e.body = append(e.body, v[:]...) }

func (e *recordEncoder) bool(v *bool) {
	var b uint8
	if *v {
		b = 1
	}
	e.uint8(&b)
}

func (e *recordEncoder) str(v *string) {
	n, isNew := e.strings.number(*v)
	if isNew {
		e.stringBytes += len(*v) + binary.MaxVarintLen32
	}
	e.body = binary.AppendUvarint(e.body, n)
}

// time leaves 0, which stands for no time, out of the block's range.
func (e *recordEncoder) time(v *Time) {
	if *v != 0 {
		e.first, e.last = span(e.first, e.last, *v, *v)
	}
	e.since((*int64)(v), int64(e.base))
}

func (e *recordEncoder) since(v *int64, from int64) {
	e.body = binary.AppendVarint(e.body, *v-from)
}

func (e *recordEncoder) list(n int) int {
	e.longList = e.longList || n > maxList
	e.body = binary.AppendUvarint(e.body, uint64(n))
	return n
}

// addSaturating is for sums of counts that a damaged recorder may have made up.
func addSaturating(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
