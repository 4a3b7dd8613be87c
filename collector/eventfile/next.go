package eventfile

// Next goes to the next record. It returns false at the end of the file and
// after an error.
func (r *Reader) Next() bool {
	r.meta, r.isEvent = nil, false
	for {
		switch {
		case len(r.pending) > 0:
			r.meta, r.pending = r.pending[0], r.pending[1:]
			return true
		case r.done:
			return false
		case r.block.kind == frameKernel:
			if r.nextEvent() {
				return true
			}
		case r.block.kind == frameRecords:
			if r.nextRecord() {
				return true
			}
		default:
			r.nextBlock()
		}
	}
}

func (r *Reader) nextEvent() bool {
	b := &r.kernel
	if b.next(&r.event) {
		r.isEvent = true
		return true
	}
	r.summary.Events += b.count - b.unknown
	r.leaveBlock(b.bad, b.count, b.unknown)
	return false
}

func (r *Reader) nextRecord() bool {
	b := &r.records
	if rec := b.next(); rec != nil {
		r.meta = rec
		if _, ok := rec.(*Window); ok {
			r.summary.Windows++
		}
		return true
	}
	r.leaveBlock(b.bad, b.count, b.unknown)
	return false
}

// leaveBlock ends the open block, of which count records were good.
func (r *Reader) leaveBlock(bad string, count, unknown uint64) {
	announced := uint64(r.block.count)
	if bad == "" && count != announced {
		bad = "a block does not hold as many records as it says"
	}
	if bad != "" {
		rest := r.block
		rest.count = uint32(announced - min(count, announced))
		r.damageBlock(bad, &rest)
	}
	r.summary.Unknown += unknown
	r.block.kind = 0
}

// damageBlock notes that a block with the right checksum cannot be read.
func (r *Reader) damageBlock(reason string, fr *frame) {
	r.damages.add(r.blockOff, reason, fr, 0)
	r.damages.close(r.blockOff+int64(fr.size()), 1)
}
