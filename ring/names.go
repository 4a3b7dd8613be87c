package ring

import (
	"encoding/binary"
	"fmt"
	"io"
)

// nameTable is a reader's copy of the names. A name never changes once it is
// counted as in use, so that only new ones are ever read.
type nameTable struct {
	src   io.ReaderAt
	names [MaxNames + 1]string
	known int
}

// load reads the names that came into use since the last load.
func (t *nameTable) load() error {
	var b [HeaderSize]byte
	if _, err := t.src.ReadAt(b[:], 0); err != nil {
		return readError(err, 0)
	}
	n := binary.LittleEndian.Uint32(b[offNameCount:])
	if n > MaxNames {
		return &FormatError{offNameCount, fmt.Errorf("%w: %d names in use, at most %d fit", ErrName, n, MaxNames)}
	}
	for id := t.known + 1; id <= int(n); id++ {
		off := offNames + NameSize*(id-1)
		name, ok := paddedName(b[off : off+NameSize])
		if !ok {
			return &FormatError{int64(off), fmt.Errorf("%w: name %d is not UTF-8", ErrName, id)}
		}
		t.names[id] = name
		t.known = id
	}
	return nil
}

// use makes sure that id can be turned into a name.
func (t *nameTable) use(id uint8, reload *bool) error {
	if int(id) <= t.known {
		return nil
	}
	if *reload {
		*reload = false
		if err := t.load(); err != nil {
			return err
		}
	}
	if int(id) <= t.known {
		return nil
	}
	return &FormatError{offNameCount, fmt.Errorf("%w: name id %d is not in use", ErrSlot, id)}
}
