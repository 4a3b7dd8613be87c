// Package eventfile reads and writes events.bin, the recording of a traced
// service: kernel events, request windows, samples of the machine, and what
// was lost on the way. FORMAT.md beside this file is the specification.
//
// A file is a sequence of blocks that each carry a checksum and decode on
// their own. A Reader therefore gets every whole block out of a file that was
// cut off or damaged, and says what is missing. Nothing read from a file is
// trusted: lengths are bounded before memory is taken, and no content makes
// it panic.
package eventfile
