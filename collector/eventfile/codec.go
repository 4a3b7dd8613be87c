package eventfile

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// codec says how the content of a block is stored.
type codec uint8

const (
	codecNone codec = 0
	codecZstd codec = 1
)

// compressor keeps one encoder, of the fastest level: columns leave little
// for the others to find (FORMAT.md has figures).
type compressor struct{ zstd *zstd.Encoder }

func newCompressor() (compressor, error) {
	e, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(2*closeBytes),
		zstd.WithEncoderCRC(false)) // the frame has one
	return compressor{e}, err
}

// append appends raw to b, compressed where that makes it shorter.
func (c compressor) append(b, raw []byte) ([]byte, codec) {
	start := len(b)
	b = c.zstd.EncodeAll(raw, b)
	if len(b)-start < len(raw) {
		return b, codecZstd
	}
	return append(b[:start], raw...), codecNone
}

type decompressor struct {
	zstd *zstd.Decoder
	buf  []byte
}

func newDecompressor() (*decompressor, error) {
	d, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecodeAllCapLimit(true)) // no more than the frame announces
	return &decompressor{zstd: d}, err
}

// content returns what is stored in a block, valid until the next call.
func (d *decompressor) content(f *frame, stored []byte) ([]byte, error) {
	switch f.codec {
	case codecNone:
		if f.raw != f.stored {
			return nil, fmt.Errorf("%d bytes are stored, %d announced", f.stored, f.raw)
		}
		return stored, nil
	case codecZstd:
		if cap(d.buf) < int(f.raw) {
			d.buf = make([]byte, 0, f.raw)
		}
		raw, err := d.zstd.DecodeAll(stored, d.buf[:0:f.raw])
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		if len(raw) != int(f.raw) {
			return nil, fmt.Errorf("%d bytes are compressed, %d announced", len(raw), f.raw)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("compression %d is not known", f.codec)
}
