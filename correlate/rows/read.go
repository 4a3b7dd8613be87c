package rows

import (
	"bytes"
	"fmt"
	"io"
)

// Read reads a file of client rows; its form is told by its content: one JSON
// object a line, or a NumPy .npz archive with one array per field. Name is for
// messages only. Errors about the content are *LineError.
func Read(name string, r io.ReaderAt, size int64) (*Set, error) {
	head := make([]byte, min(size, 16))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read rows %s: %w", name, err)
	}
	body := io.NewSectionReader(r, 0, size)
	text := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	refuse := func(reason, hint string) error { return &LineError{File: name, Reason: reason, Hint: hint} }
	switch {
	case size == 0:
		return nil, refuse("the file is empty", "did the load generator finish, and flush its output?")
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return readNpz(name, r, size)
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		return nil, refuse("this is a single NumPy array", "save one array per field with numpy.savez")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, refuse("this is a gzip file", "unpack it with gunzip -k first")
	case bytes.HasPrefix(text, []byte("[")):
		return nil, refuse("this is one JSON array", "write its objects one a line, for example with jq -c '.[]'")
	}
	return readJSONL(name, body, size)
}

var bom = []byte("\xef\xbb\xbf")
