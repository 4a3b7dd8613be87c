package eventfile

import "encoding/binary"

// dict numbers the distinct values of one block in the order of first use.
// Number 0 is always the zero value and is not stored.
type dict[T comparable] struct {
	index map[T]uint64
	list  []T
}

func (d *dict[T]) reset() {
	if d.index == nil {
		d.index = make(map[T]uint64)
	}
	clear(d.index)
	d.list = append(d.list[:0], *new(T))
}

// number returns the number of v and whether v is new to the block.
func (d *dict[T]) number(v T) (n uint64, isNew bool) {
	if v == d.list[0] {
		return 0, false
	}
	n, ok := d.index[v]
	if !ok {
		n = uint64(len(d.list))
		d.index[v] = n
		d.list = append(d.list, v)
	}
	return n, !ok
}

// truncate forgets all values but the first n.
func (d *dict[T]) truncate(n int) {
	for _, v := range d.list[n:] {
		delete(d.index, v)
	}
	d.list = d.list[:n]
}

// value returns the value with number n.
func (d *dict[T]) value(n uint64) (v T, ok bool) {
	if n >= uint64(len(d.list)) {
		return v, false
	}
	return d.list[n], true
}

// read fills the dictionary from a column; get reads one value of it.
func (d *dict[T]) read(c cursor, get func(*cursor) T) bool {
	d.list = append(d.list[:0], *new(T))
	for c.len() > 0 && len(d.list) <= maxDict {
		d.list = append(d.list, get(&c))
	}
	return !c.failed && c.len() == 0
}

func appendInts(b []byte, list []int32) []byte {
	for _, v := range list[1:] {
		b = binary.AppendUvarint(b, zigzag(int64(v)))
	}
	return b
}

func appendValues(b []byte, list []uint64) []byte {
	for _, v := range list[1:] {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	for _, v := range list[1:] {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return b
}

func getInt(c *cursor) int32 {
	v := c.varint()
	if v != int64(int32(v)) {
		c.fail()
	}
	return int32(v)
}

func getString(c *cursor) string { return string(c.bytes(c.uvarint())) }
