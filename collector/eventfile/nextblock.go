package eventfile

// maxWasted bounds the work on files made to be slow to read: after so many
// bytes of damaged blocks, no whole blocks are looked for inside of them.
const maxWasted = 1 << 30

// nextBlock opens the next whole block, notes damage and goes past it, or
// finds the end of the file.
func (r *Reader) nextBlock() {
	head := r.src.peek(frameSize)
	if len(head) == 0 || r.src.err != nil {
		r.finish()
		return
	}
	off := r.src.off
	fr, reason := parseFrame(head, r.tag)
	if reason != "" {
		r.damages.add(off, reason, nil, r.knownUntil())
		r.src.find(frameMagic, 1)
		return
	}
	stored, reason := r.stored(&fr)
	switch {
	case r.src.err != nil:
		r.finish()
	case reason == "":
		r.src.skip(fr.size())
		r.enter(off, &fr, stored)
	case r.wasted > maxWasted:
		r.damages.add(off, reason, &fr, 0)
		r.src.find(frameMagic, frameSize+len(stored))
	default:
		// Where bytes are missing, the next block begins inside this one.
		r.damages.add(off, reason, &fr, 0)
		r.wasted += int64(len(stored))
		r.src.find(frameMagic, 1)
	}
}

// stored returns the content of the block that comes next, as it is in the
// file, and does not consume it.
func (r *Reader) stored(fr *frame) (content []byte, reason string) {
	content = r.src.peek(fr.size())[frameSize:]
	switch {
	case len(content) < int(fr.stored):
		return content, "a block is cut short"
	case checksum(content) != fr.crc:
		return content, "the checksum of a block does not match"
	}
	return content, ""
}
