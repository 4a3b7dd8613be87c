package eventfile

// Summary is what a Reader found in a file.
type Summary struct {
	End    *End   // nil: the file was cut off, or is still being written
	Blocks uint64 // whole blocks, header and end not counted
	// Events, Windows and Unknown count records. Repeats of KindTask are not
	// in Events. Unknown records are of a newer minor version of the format.
	Events, Windows, Unknown uint64
	Damage                   []Damage
	// LastTime is the time of the latest kernel event in a whole block: up to
	// it a file that was cut off is complete.
	LastTime Time
}

// Damage is a part of a file that could not be read. Every whole block around
// it was.
type Damage struct {
	Offset, Length int64 // in bytes; length 0: blocks are missing there
	Reason         string
	Blocks         uint64 // blocks lost here; 0: none, or it cannot be told
	Records        uint64 // events and records known to be lost here
	// First and Last bound the time of what is lost, as the damaged blocks
	// say or else the kernel events around them. Both are zero where what is
	// lost is the end of the file.
	First, Last Time
}
