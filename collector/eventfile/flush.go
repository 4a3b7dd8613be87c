package eventfile

import (
	"fmt"
	"io"
)

// Flush writes both open blocks. The kernel block goes first, so that a file
// that was cut off has no window without its events.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	if !w.kernel.empty() {
		if err := w.writeKernel(); err != nil {
			return err
		}
	}
	if !w.records.empty() {
		return w.writeRecords(frameRecords)
	}
	return nil
}

// Close flushes and ends the file. It fills in the totals of e; the underlying
// writer stays open.
func (w *Writer) Close(e *End) error {
	if err := w.Flush(); err != nil {
		return err
	}
	e.Events, e.Windows, e.Lost, e.Bytes = w.totals.Events, w.totals.Windows, w.totals.Lost, w.totals.Bytes
	if err := w.records.add(recordEnd, e); err != nil {
		return fmt.Errorf("write end: %w", err)
	}
	if err := w.writeRecords(frameEnd); err != nil {
		return err
	}
	w.err = ErrClosed
	return nil
}

func (w *Writer) writeKernel() error {
	b := &w.kernel
	w.raw = b.content(w.raw[:0])
	w.buf = w.block(w.buf[:0], frame{kind: frameKernel, count: b.count, first: b.first, last: b.upTo})
	b.reset()
	return w.write(w.buf)
}

func (w *Writer) writeRecords(kind frameType) error {
	w.buf = w.recordsBlock(w.buf[:0], kind)
	return w.write(w.buf)
}

// recordsBlock appends the open block of records to out and starts a new one.
func (w *Writer) recordsBlock(out []byte, kind frameType) []byte {
	b := &w.records
	w.raw = b.content(w.raw[:0])
	out = w.block(out, frame{kind: kind, count: b.count, lost: b.lost, first: b.first, last: b.last})
	b.reset()
	return out
}

// block appends a frame and w.raw as its content to out.
func (w *Writer) block(out []byte, fr frame) []byte {
	start := len(out)
	out = append(out, make([]byte, frameSize)...)
	out, fr.codec = w.zip.append(out, w.raw)
	content := out[start+frameSize:]
	fr.seq, fr.raw, fr.stored, fr.crc = w.seq, uint32(len(w.raw)), uint32(len(content)), checksum(content)
	w.seq++
	fr.append(out[:start], w.tag) // into the room left for it
	return out
}

// write hands a whole block to the underlying writer in one call.
func (w *Writer) write(block []byte) error {
	n, err := w.dst.Write(block)
	if err == nil && n < len(block) {
		err = io.ErrShortWrite
	}
	w.totals.Bytes += uint64(max(n, 0))
	if err != nil {
		w.err = fmt.Errorf("write events: %w", err)
	}
	return w.err
}
