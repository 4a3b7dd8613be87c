package eventfile

// What a file may ask for. A writer keeps to these, a reader refuses the rest.
const (
	closeBytes = 256 << 10 // a writer closes a block of about this raw size
	maxBlock   = 16 << 20  // bytes of a block, raw and stored
	maxList    = 1 << 16   // elements of a list inside a record
	maxDict    = 1 << 18   // entries of a block's dictionary
	maxComm    = 1 << 10   // bytes of Event.Comm
)
