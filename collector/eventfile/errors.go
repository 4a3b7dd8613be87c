package eventfile

import (
	"errors"
	"fmt"
)

var (
	// ErrNotEvents says that a file is something else. Where that is easy to
	// tell, the error that wraps it says what.
	ErrNotEvents = errors.New("not an events file")
	// ErrTooLarge says that one record is larger than a block may be. The
	// record is not written; the Writer stays usable.
	ErrTooLarge = errors.New("larger than the format allows")
	// ErrClosed is returned by a Writer after Close.
	ErrClosed = errors.New("events file is closed")
)

// Version is the version of the format. A reader understands every file of
// its own Major; a larger Minor adds what it can skip.
type Version struct{ Major, Minor uint16 }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// VersionError says that a file is of another major version.
type VersionError struct {
	File, Reader Version
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("events file has version %v, this program reads version %d", e.File, e.Reader.Major)
}

// CorruptError says that a file's header is damaged, so that nothing in the
// file can be read. Damage behind the header is no error: see Summary.
type CorruptError struct {
	Offset int64 // in bytes from the start of the file
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("events file is damaged at byte %d: %s", e.Offset, e.Reason)
}
