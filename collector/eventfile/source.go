package eventfile

import (
	"bytes"
	"io"
)

// readAhead is how many bytes are taken from the reader at once.
const readAhead = 64 << 10

// source looks ahead into a stream without consuming it, and knows the offset
// in the file. Memory grows with the data that is there, not with what a
// damaged length asks for.
type source struct {
	r     io.Reader
	buf   []byte // data not consumed yet
	store []byte // what buf is a part of
	off   int64  // of buf in the file
	eof   bool
	err   error // from r, other than the end
}

// peek returns the next n bytes, fewer only at the end of the file or after an
// error. They are valid until the next call.
func (s *source) peek(n int) []byte {
	for len(s.buf) < n && !s.eof && s.err == nil {
		s.fill()
	}
	return s.buf[:min(n, len(s.buf))]
}

func (s *source) fill() {
	if room := cap(s.buf) - len(s.buf); room < readAhead {
		if cap(s.store) < 2*len(s.buf)+readAhead {
			s.store = make([]byte, 2*len(s.buf)+readAhead)
		}
		s.buf = s.store[:copy(s.store, s.buf)]
	}
	for range 100 {
		n, err := s.r.Read(s.buf[len(s.buf) : len(s.buf)+readAhead])
		s.buf = s.buf[:len(s.buf)+n]
		switch {
		case err == io.EOF:
			s.eof = true
		case err != nil:
			s.err = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// find consumes skip bytes and then all up to the next mark, or to the end.
func (s *source) find(mark string, skip int) {
	s.skip(skip)
	for {
		b := s.peek(readAhead)
		if i := bytes.Index(b, []byte(mark)); i >= 0 {
			s.skip(i)
			return
		}
		if len(b) < readAhead {
			s.skip(len(b))
			return
		}
		s.skip(len(b) - len(mark) + 1)
	}
}

// skip consumes n bytes that were peeked.
func (s *source) skip(n int) {
	s.buf = s.buf[n:]
	s.off += int64(n)
}
