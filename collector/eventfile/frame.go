package eventfile

import (
	"encoding/binary"
	"hash/crc32"
)

// frameType says what the content of a block is.
type frameType uint8

const (
	frameHeader  frameType = 1
	frameKernel  frameType = 2
	frameRecords frameType = 3
	frameEnd     frameType = 4
)

const (
	frameSize  = 56
	frameMagic = "\xf5TTB"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame stands in front of the content of every block.
type frame struct {
	kind   frameType
	codec  codec
	seq    uint32 // of the block in the file; the header is 0
	stored uint32 // bytes of content in the file
	raw    uint32 // bytes of content uncompressed
	count  uint32 // events or records, repeats not counted
	lost   uint64 // sum of the block's Loss.Count
	first  Time   // earliest and latest time in the block
	last   Time
	crc    uint32 // of the content as stored
}

// append encodes f. The frame's own checksum starts from tag, which differs
// from file to file: blocks of another file, such as an old one whose disk
// space this one got, are not taken for blocks of this.
func (f *frame) append(b []byte, tag uint32) []byte {
	start := len(b)
	le := binary.LittleEndian
	b = append(b, frameMagic...)
	b = append(b, byte(f.kind), byte(f.codec), 0, 0)
	for _, v := range [...]uint32{f.seq, f.stored, f.raw, f.count} {
		b = le.AppendUint32(b, v)
	}
	for _, v := range [...]uint64{f.lost, uint64(f.first), uint64(f.last)} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(b, f.crc)
	return le.AppendUint32(b, crc32.Update(tag, castagnoli, b[start:]))
}

// parseFrame decodes a frame. The reason is empty where it is sound.
func parseFrame(b []byte, tag uint32) (f frame, reason string) {
	le := binary.LittleEndian
	switch {
	case len(b) < frameSize:
		return f, "a block's frame is cut short"
	case string(b[:4]) != frameMagic:
		return f, "no block begins here"
	case le.Uint32(b[52:]) != crc32.Update(tag, castagnoli, b[:52]):
		return f, "the checksum of a block's frame does not match"
	}
	f = frame{
		kind: frameType(b[4]), codec: codec(b[5]),
		seq: le.Uint32(b[8:]), stored: le.Uint32(b[12:]), raw: le.Uint32(b[16:]), count: le.Uint32(b[20:]),
		lost: le.Uint64(b[24:]), first: Time(le.Uint64(b[32:])), last: Time(le.Uint64(b[40:])),
		crc: le.Uint32(b[48:]),
	}
	if f.stored > maxBlock || f.raw > maxBlock {
		return f, "a block is larger than a block may be"
	}
	if f.first > f.last {
		return f, "a block ends before it begins"
	}
	return f, ""
}

// tagOf derives the tag of a file's blocks from its encoded header frame.
func tagOf(header []byte) uint32 { return binary.LittleEndian.Uint32(header[52:frameSize]) }

func (f *frame) size() int { return frameSize + int(f.stored) }

func checksum(content []byte) uint32 { return crc32.Checksum(content, castagnoli) }
