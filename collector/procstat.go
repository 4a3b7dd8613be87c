package collector

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// threadStat is what /proc/PID/task/TID/stat says, as far as it is used.
type threadStat struct {
	comm  string // bytes, not always UTF-8
	state byte   // a letter
	cpu   uint32 // where it last ran
	start int64  // ns since boot, by this time namespace; of 10 ms
}

// clockTick is the unit of times in /proc, on every architecture that has
// programs.
const clockTick = 10 * time.Millisecond

// parseThreadStat reads a stat file: tid (name) state ..., where the name may
// hold anything.
func parseThreadStat(text []byte) (threadStat, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return threadStat{}, fmt.Errorf("parse stat of a thread: no name in %q", text)
	}
	const state, start, processor = 0, 19, 36 // of the fields after the name
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= processor || len(fields[state]) != 1 {
		return threadStat{}, fmt.Errorf("parse stat of a thread: %d fields after its name", len(fields))
	}
	cpu, err := strconv.ParseUint(fields[processor], 10, 32)
	if err != nil {
		return threadStat{}, fmt.Errorf("parse stat of a thread: %w", err)
	}
	ticks, err := strconv.ParseInt(fields[start], 10, 64)
	if err != nil {
		return threadStat{}, fmt.Errorf("parse stat of a thread: %w", err)
	}
	return threadStat{string(text[open+1 : end]), fields[state][0], uint32(cpu), ticks * int64(clockTick)}, nil
}

// blockedStates are the letters of states off the CPU (fs/proc/array.c).
var blockedStates = map[byte]uint32{
	'S': eventfile.StateInterruptible,
	'D': eventfile.StateUninterruptible,
	'T': eventfile.StateStopped,
	't': eventfile.StateTraced,
	'P': eventfile.StateParked,
	'I': eventfile.StateIdle,
}

// parseSyscall reads /proc/PID/task/TID/syscall: the number, six arguments, and
// the stack and instruction pointers; without arguments where a thread is
// blocked outside of system calls, for which the number is -1. ok is false for
// a thread that is not blocked.
func parseSyscall(text string) (nr int32, args [3]uint64, ok bool) {
	f := strings.Fields(text)
	if len(f) < 3 {
		return 0, args, false
	}
	n, err := strconv.ParseInt(f[0], 10, 32)
	if err != nil {
		return 0, args, false
	}
	if n < 0 || len(f) < 9 {
		return eventfile.NoSyscall, args, true
	}
	sp, err := strconv.ParseUint(f[7], 0, 64)
	if err != nil || sp <= math.MaxUint32 {
		return eventfile.UnknownSyscall, args, true // a 32-bit program's, whose numbers are others
	}
	for i := range args {
		args[i], err = strconv.ParseUint(f[1+i], 0, 64)
		if err != nil {
			return eventfile.UnknownSyscall, [3]uint64{}, true
		}
	}
	return int32(n), args, true
}
