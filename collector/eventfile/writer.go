package eventfile

import (
	"fmt"
	"io"
)

// Writer writes an events file. It is not safe for concurrent use.
//
// Records collect in two open blocks, one of kernel events and one of all
// else, that reach the file when they are full and at Flush. The first write
// that fails ends it: that error comes back from every later call.
type Writer struct {
	dst     io.Writer
	zip     compressor
	kernel  kernelBlock
	records recordBlock
	tasks   tasks

	tag    uint32
	seq    uint32
	raw    []byte // content of a block; scratch
	buf    []byte // a block as it is in the file; scratch
	totals End
	err    error
}

// NewWriter writes the header to dst.
func NewWriter(dst io.Writer, h *Header) (*Writer, error) {
	zip, err := newCompressor()
	if err != nil {
		return nil, fmt.Errorf("start compression: %w", err)
	}
	w := &Writer{dst: dst, zip: zip}
	w.kernel.reset()
	w.records.reset()
	if err := w.records.add(recordHeader, h); err != nil {
		return nil, fmt.Errorf("write events header: %w", err)
	}
	out := w.recordsBlock(appendPreamble(nil, current), frameHeader)
	w.tag = tagOf(out[preambleSize:])
	if err := w.write(out); err != nil {
		return nil, err
	}
	return w, nil
}

// Window adds a request window or a runtime span.
func (w *Writer) Window(win *Window) error {
	err := w.record(recordWindow, win)
	if err == nil {
		w.totals.Windows++
	}
	return err
}

// Loss adds a counted gap.
func (w *Writer) Loss(l *Loss) error {
	err := w.record(recordLoss, l)
	if err == nil {
		w.totals.Lost = addSaturating(w.totals.Lost, l.Count)
	}
	return err
}

// Box adds a sample of the machine.
func (w *Writer) Box(s *BoxSample) error { return w.record(recordBox, s) }

// Proc adds what is known of a process.
func (w *Writer) Proc(p *Proc) error { return w.record(recordProc, p) }

// Note adds a remark for the reader.
func (w *Writer) Note(n *Note) error { return w.record(recordNote, n) }

// Name adds the name of a number.
func (w *Writer) Name(n *Name) error { return w.record(recordName, n) }

// Mapping adds a part of a traced process's address space.
func (w *Writer) Mapping(m *Mapping) error { return w.record(recordMap, m) }

// Fd adds what a descriptor stands for.
func (w *Writer) Fd(f *Fd) error { return w.record(recordFd, f) }

// Stack adds the calls behind an id. It may come after events that have the
// id, and more than once.
func (w *Writer) Stack(s *Stack) error { return w.record(recordStack, s) }

// Bytes returns how many bytes reached the underlying writer.
func (w *Writer) Bytes() uint64 { return w.totals.Bytes }

func (w *Writer) record(t recordType, r record) error {
	if w.err != nil {
		return w.err
	}
	if err := w.records.add(t, r); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if w.records.size() >= closeBytes {
		return w.Flush()
	}
	return nil
}
