package eventfile

import "fmt"

// recordReader takes the records out of a block.
type recordReader struct {
	records cursor
	strings dict[string]
	base    Time

	count   uint64 // records so far
	unknown uint64 // of these: of a newer minor version, not delivered
	bad     string // why the block cannot be read on
}

// open starts on the content of a block and keeps raw until the next open.
func (b *recordReader) open(raw []byte) {
	*b = recordReader{strings: b.strings}
	var strings, base cursor
	whole := eachColumn(raw, func(number uint64, data []byte) {
		switch number {
		case colStrings:
			strings.buf = data
		case colBase:
			base.buf = data
		case colRecords:
			b.records.buf = data
		}
	})
	b.base = Time(column(&base))
	if !whole || base.failed || !b.strings.read(strings, getString) {
		b.bad = "its columns or strings are cut short"
	}
}

// next returns the next record, or nil at the end of the block and at damage,
// which bad then tells.
func (b *recordReader) next() record {
	for b.bad == "" && b.records.len() > 0 {
		t := recordType(b.records.uvarint())
		r := newRecord(t)
		if r == nil {
			b.unknown++
		}
		if b.one(r) && r != nil {
			return r
		}
	}
	return nil
}

// only fills in the record of a block that has just one, of type t.
func (b *recordReader) only(t recordType, r record) bool {
	if b.bad == "" && recordType(b.records.uvarint()) != t {
		b.bad = "it does not hold the record that belongs there"
	}
	return b.bad == "" && b.one(r)
}

// one reads the next record's body into r, or past it where r is nil.
func (b *recordReader) one(r record) bool {
	d := recordDecoder{cursor{buf: b.records.bytes(b.records.uvarint())}, b}
	if r != nil && !b.records.failed {
		r.walk(&d)
	}
	if b.records.failed || d.failed {
		b.bad = fmt.Sprintf("record %d is wrong in front of its byte %d", b.count, d.off)
		return false
	}
	b.count++
	return true
}
