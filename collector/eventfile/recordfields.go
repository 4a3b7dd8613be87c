package eventfile

// recordDecoder is the coder that fills in a record from its body. Fields
// that an older minor version did not write stay zero; what a newer one added
// behind them is not looked at.
type recordDecoder struct {
	cursor
	block *recordReader
}

func (d *recordDecoder) uint64(v *uint64) {
	if d.len() > 0 {
		*v = d.uvarint()
	}
}

func (d *recordDecoder) int64(v *int64) {
	if d.len() > 0 {
		*v = d.varint()
	}
}

func (d *recordDecoder) uint8(v *uint8) {
	if d.len() > 0 {
		*v = d.bytes(1)[0]
	}
}

func (d *recordDecoder) bytes16(v *[16]byte) {
	if d.len() > 0 {
		copy(v[:], d.bytes(uint64(len(v))))
	}
}

func (d *recordDecoder) since(v *int64, from int64) {
	if d.len() > 0 {
		*v = from + d.varint()
	}
}

func (d *recordDecoder) time(v *Time) { d.since((*int64)(v), int64(d.block.base)) }

func (d *recordDecoder) uint32(v *uint32) {
	var u uint64
	d.uint64(&u)
	*v = uint32(u)
	d.check(uint64(*v) == u)
}

func (d *recordDecoder) int32(v *int32) {
	var i int64
	d.int64(&i)
	*v = int32(i)
	d.check(int64(*v) == i)
}

func (d *recordDecoder) bool(v *bool) {
	var u uint8
	d.uint8(&u)
	*v = u == 1
	d.check(u <= 1)
}

func (d *recordDecoder) str(v *string) {
	var n uint64
	d.uint64(&n)
	s, ok := d.block.strings.value(n)
	*v = s
	d.check(ok)
}

// list takes no length that the rest of the body could not hold.
func (d *recordDecoder) list(int) int {
	var n uint64
	d.uint64(&n)
	ok := n <= min(maxList, uint64(d.len()))
	d.check(ok)
	if !ok {
		return 0
	}
	return int(n)
}

func (d *recordDecoder) check(ok bool) {
	if !ok {
		d.fail()
	}
}
