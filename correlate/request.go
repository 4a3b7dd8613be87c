package correlate

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Label is how a person knows r: the id as the client wrote it, or as the
// service published it.
func (r *Request) Label() string {
	if r.Row != nil {
		return rowLabel(r.Row)
	}
	return IDText(r.ID())
}

// IDText formats an id as a number, or as 32 hex digits.
func IDText(id eventfile.ID) string {
	if id.Raw {
		return hex.EncodeToString(id.Bytes[:])
	}
	return strconv.FormatUint(binary.LittleEndian.Uint64(id.Bytes[:8]), 10)
}

// Failed reports whether the client or the service called r a failure.
func (r *Request) Failed() bool {
	if r.Row != nil && r.Row.Failed() {
		return true
	}
	return r.Window != nil && r.Window.Flags&(eventfile.WindowError|eventfile.WindowTimeout) != 0
}
