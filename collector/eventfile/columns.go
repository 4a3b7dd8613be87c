package eventfile

import "encoding/binary"

// The content of a block is a list of columns: a number, a length, and that
// many bytes. A reader skips the columns whose number it does not know.
const (
	colStrings = 0 // dictionary of strings; in every type of block

	colKinds  = 1 // kernel block: a row an event
	colCPUs   = 2
	colTimes  = 3
	colCPUSet = 4 // kernel block: dictionaries
	colTids   = 5
	colValues = 6

	colBase    = 1 // record block: the time that times are relative to
	colRecords = 2
)

// fieldColumn is the number of the column of one field of one kind of event.
func fieldColumn(k Kind, f field) uint64 { return uint64(k)<<5 | uint64(f) }

func appendColumn(b []byte, number uint64, data []byte) []byte {
	if len(data) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, number)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

// eachColumn calls visit for every column of a block's content. It reports
// whether the list is well formed.
func eachColumn(raw []byte, visit func(number uint64, data []byte)) bool {
	c := cursor{buf: raw}
	for c.len() > 0 {
		number := c.uvarint()
		data := c.bytes(c.uvarint())
		if c.failed {
			return false
		}
		visit(number, data)
	}
	return true
}
