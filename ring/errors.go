package ring

import (
	"errors"
	"fmt"
)

// What can be wrong with a ring. Each comes wrapped in a FormatError.
var (
	ErrMagic      = errors.New("bad magic: not a tailtrace ring")
	ErrVersion    = errors.New("unknown ABI version")
	ErrHeaderSize = errors.New("bad header size")
	ErrSlotSize   = errors.New("bad slot size")
	ErrSlotCount  = errors.New("bad slot count")
	ErrClock      = errors.New("unknown clock")
	ErrName       = errors.New("bad name")
	ErrTruncated  = errors.New("file is too short")
	ErrHead       = errors.New("bad head")
	ErrSlot       = errors.New("bad slot")
)

// FormatError is damage, or a lie, at a place in a ring.
type FormatError struct {
	Offset int64 // in the file
	Err    error
}

func (e *FormatError) Error() string { return fmt.Sprintf("%v (at offset %d)", e.Err, e.Offset) }
func (e *FormatError) Unwrap() error { return e.Err }
