package rows

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

var errID = errors.New("id is neither a string nor a whole number")

// ParseID turns a row's JSON id into the id that the service published: a
// whole number from 0 to 2^64-1 is itself, any other whole number is its
// digits as text, and text goes through TextID.
func ParseID(value []byte) (eventfile.ID, error) {
	if len(value) > 0 && value[0] == '"' {
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return eventfile.ID{}, errID
		}
		return TextID(text), nil
	}
	if n, err := strconv.ParseUint(string(value), 10, 64); err == nil {
		return NumberID(n), nil
	}
	// Writers without integers write 1000001.0 or 1e6.
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return eventfile.ID{}, errID
	}
	id, err := floatID(f)
	if err != nil && !bytes.ContainsAny(value, ".eE") {
		return TextID(string(value)), nil // a whole number that 64 bits cannot hold
	}
	return id, err
}

// NumberID is the id of a request that is known by a number.
func NumberID(n uint64) eventfile.ID {
	var id eventfile.ID
	binary.LittleEndian.PutUint64(id.Bytes[:], n)
	return id
}

// floatID accepts the whole numbers that a float64 holds exactly.
func floatID(f float64) (eventfile.ID, error) {
	if !(f >= 0 && f <= 1<<53) || f != float64(uint64(f)) {
		return eventfile.ID{}, errID
	}
	return NumberID(uint64(f)), nil
}

// TextID is the id of a request that is known by a string: the 16 bytes of a
// trace id (32 hex digits) or of a UUID, the MD5 of any other text.
func TextID(text string) eventfile.ID {
	id := eventfile.ID{Raw: true}
	digits := []byte(text)
	if len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-' {
		digits = append(digits[:0:0], text[:8]+text[9:13]+text[14:18]+text[19:23]+text[24:]...)
	}
	if len(digits) == 32 {
		if _, err := hex.Decode(id.Bytes[:], digits); err == nil {
			return id
		}
	}
	id.Bytes = md5.Sum([]byte(text))
	return id
}
