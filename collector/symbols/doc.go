// Package symbols gives the addresses of stacks their functions, while the
// process that they are from is alive.
//
// What it reads belongs to the traced process: programs, libraries, perf maps.
// So it opens regular files only, reads no more than it has bounds for, and
// takes whatever it finds there as possibly made up. It may be slow, and is
// for a goroutine of its own.
package symbols
