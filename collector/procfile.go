package collector

import (
	"fmt"
	"io"
	"os"
)

// procFile is a file of /proc or /sys that is read again and again: it stays
// open, and each read is one pread.
type procFile struct {
	f   *os.File
	buf []byte
}

func openProcFile(path string) (*procFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &procFile{f: f, buf: make([]byte, 4096)}, nil
}

// read returns the content as of now; the bytes are valid until the next read.
// A nil procFile is one that this machine lacks, and empty.
func (p *procFile) read() ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	for {
		n, err := p.f.ReadAt(p.buf, 0)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read %s: %w", p.f.Name(), err)
		}
		if n < len(p.buf) {
			return p.buf[:n], nil
		}
		p.buf = make([]byte, 2*len(p.buf))
	}
}

func (p *procFile) Close() error {
	if p == nil {
		return nil
	}
	return p.f.Close()
}
