package eventfile

import "encoding/binary"

// cursor reads bytes that may be damaged. It never reads outside of buf:
// after the first failure, at off, every read returns zero.
type cursor struct {
	buf    []byte
	off    int
	failed bool
}

func (c *cursor) len() int { return len(c.buf) - c.off }

func (c *cursor) fail() {
	c.failed = true
	c.buf = c.buf[:c.off]
}

// uvarint reads one number. Most numbers of a file are below 128 and take the
// short way.
func (c *cursor) uvarint() uint64 {
	if c.len() > 0 {
		if b := c.buf[c.off]; b < 0x80 {
			c.off++
			return uint64(b)
		}
	}
	return c.longUvarint()
}

func (c *cursor) longUvarint() uint64 {
	v, n := binary.Uvarint(c.buf[c.off:])
	if n <= 0 {
		c.fail()
		return 0
	}
	c.off += n
	return v
}

func (c *cursor) varint() int64 { return unzigzag(c.uvarint()) }

// bytes returns the next n bytes, which stay part of buf.
func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(c.len()) {
		c.fail()
		return nil
	}
	b := c.buf[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

// zigzag maps small numbers of either sign to small unsigned ones.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
