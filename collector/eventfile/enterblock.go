package eventfile

import "fmt"

// enter goes into a whole block at off.
func (r *Reader) enter(off int64, fr *frame, stored []byte) {
	r.blockOff = off
	if fr.seq < r.seq {
		r.damages.close(off, 0)
		r.damageBlock("a block is out of order", &frame{stored: fr.stored, first: fr.first, last: fr.last})
		return
	}
	if fr.seq > r.seq && !r.damages.open {
		r.damages.add(off, "blocks are missing", nil, r.knownUntil())
	}
	r.damages.close(off, uint64(fr.seq-r.seq))
	r.seq = fr.seq + 1

	r.summary.Blocks++
	switch fr.kind {
	case frameKernel:
		r.enterKernel(fr, stored)
	case frameRecords:
		r.block = *fr
		r.openRecords(fr, stored)
	case frameEnd:
		r.summary.Blocks--
		r.enterEnd(fr, stored)
	default:
		r.summary.Unknown += uint64(fr.count)
	}
}

func (r *Reader) enterKernel(fr *frame, stored []byte) {
	r.pending = r.damages.settle(fr.first)
	r.summary.LastTime = max(r.summary.LastTime, fr.last)
	if r.metaOnly {
		r.summary.Events += uint64(fr.count)
		return
	}
	r.block = *fr
	raw, err := r.zip.content(fr, stored)
	r.kernel.open(raw)
	if err != nil {
		r.kernel.bad = err.Error()
	}
}

func (r *Reader) openRecords(fr *frame, stored []byte) {
	raw, err := r.zip.content(fr, stored)
	r.records.open(raw)
	if err != nil {
		r.records.bad = err.Error()
	}
}

func (r *Reader) enterEnd(fr *frame, stored []byte) {
	var end End
	r.openRecords(fr, stored)
	if !r.records.only(recordEnd, &end) {
		r.damageBlock(r.records.bad, fr)
		r.finish()
		return
	}
	r.summary.End = &end
	s := &r.summary
	if len(r.damages.all) == 0 && s.Unknown == 0 && (end.Events != s.Events || end.Windows != s.Windows) {
		r.damageBlock(fmt.Sprintf("the end block counts %d events and %d windows, the file holds %d and %d",
			end.Events, end.Windows, s.Events, s.Windows), fr)
	}
	if len(r.src.peek(1)) > 0 {
		r.damages.add(r.src.off, "data follows the end block", fr, 0)
	}
	r.finish()
}

// finish ends the reading at the end of the file, at its end block or at an
// error.
func (r *Reader) finish() {
	for r.src.err == nil && len(r.src.peek(1)) > 0 {
		r.src.skip(len(r.src.buf))
	}
	r.damages.close(r.src.off, 0)
	if r.summary.End != nil {
		r.pending = r.damages.settle(r.summary.End.Time)
	} else {
		r.pending = r.damages.settleTorn()
	}
	r.done = true
}

// knownUntil returns the time up to which no kernel event was lost between
// the whole blocks so far.
func (r *Reader) knownUntil() Time {
	if r.summary.LastTime == 0 {
		return r.header.Started
	}
	return r.summary.LastTime
}
