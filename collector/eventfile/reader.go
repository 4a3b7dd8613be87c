package eventfile

import (
	"fmt"
	"io"
)

// Reader reads an events file record by record:
//
//	for r.Next() {
//		if e := r.Event(); e != nil {
//			...
//		} else {
//			switch m := r.Meta().(type) { ... }
//		}
//	}
//
// Damage does not stop it: it goes on with the next whole block, and says in
// Summary what is missing. Where kernel events may be missing it also delivers
// a Loss with the source LossFile, before the first event after the gap.
//
// It is not safe for concurrent use.
type Reader struct {
	src      source
	zip      *decompressor
	metaOnly bool

	tag     uint32
	seq     uint32 // expected next
	wasted  int64  // bytes of blocks that were read and not sound
	damages damageLog
	done    bool

	block    frame // the one that records come from now; kind 0: none
	blockOff int64
	kernel   kernelReader
	records  recordReader
	pending  []*Loss // to deliver first

	header  Header
	event   Event
	isEvent bool
	meta    any
	summary Summary
}

// NewReader reads the header. The error wraps ErrNotEvents, or is or wraps a
// *VersionError, a *CorruptError, or what src returned.
func NewReader(src io.Reader) (*Reader, error) {
	zip, err := newDecompressor()
	if err != nil {
		return nil, fmt.Errorf("start decompression: %w", err)
	}
	r := &Reader{src: source{r: src}, zip: zip}
	if err := r.readHeader(); err != nil {
		return nil, fmt.Errorf("read events header: %w", err)
	}
	return r, nil
}

func (r *Reader) readHeader() error {
	start := r.src.peek(preambleSize + frameSize)
	if r.src.err != nil {
		return r.src.err
	}
	if err := parsePreamble(start); err != nil {
		return err
	}
	fr, reason := parseFrame(start[preambleSize:], 0)
	if reason != "" {
		return &CorruptError{Offset: preambleSize, Reason: reason}
	}
	r.tag = tagOf(start[preambleSize:])
	r.src.skip(preambleSize)
	stored, reason := r.stored(&fr)
	if r.src.err != nil {
		return r.src.err
	}
	if reason == "" {
		r.openRecords(&fr, stored)
		if fr.kind != frameHeader || !r.records.only(recordHeader, &r.header) {
			reason = "the header cannot be understood"
		}
	}
	if reason != "" {
		return &CorruptError{Offset: preambleSize, Reason: reason}
	}
	r.src.skip(fr.size())
	r.seq = fr.seq + 1
	return nil
}

// Header returns the header of the file.
func (r *Reader) Header() *Header { return &r.header }

// MetaOnly makes Next skip the kernel events that follow, which takes a few
// percent of the time. They count in Summary as their blocks say. Checksums
// are still checked: Damage and the losses that come of it are the same as
// with the events.
func (r *Reader) MetaOnly() { r.metaOnly = true }

// Event returns the kernel event that Next went to, or nil if it is another
// record. It is valid until the next call of Next.
func (r *Reader) Event() *Event {
	if !r.isEvent {
		return nil
	}
	return &r.event
}

// Meta returns the record that Next went to if it is no kernel event: a
// *Window, *Loss, *BoxSample, *Proc, *Note, *Name or *Stack, which the caller owns.
func (r *Reader) Meta() any { return r.meta }

// Err returns the error of the underlying reader that ended Next. Damage is
// not an error.
func (r *Reader) Err() error {
	if r.src.err != nil {
		return fmt.Errorf("read events: %w", r.src.err)
	}
	return nil
}

// Summary says what the file held, once Next has returned false.
func (r *Reader) Summary() Summary {
	s := r.summary
	s.Damage = r.damages.all
	return s
}
