package collector

import (
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func readClock(id int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(err) // both clocks exist on every Linux
	}
	return ts.Nano()
}

// now is CLOCK_MONOTONIC, the clock of all events.
func now() eventfile.Time { return eventfile.Time(readClock(unix.CLOCK_MONOTONIC)) }

// offsetTries is how often realtimeOffset tries, to find a try that was not
// interrupted.
const offsetTries = 5

// realtimeOffset is CLOCK_REALTIME - CLOCK_MONOTONIC in ns, from the tightest
// of a few readings of one between two of the other: wrong by at most half
// the time that took, some tens of ns.
func realtimeOffset() int64 {
	var best, offset int64 = 1<<63 - 1, 0
	for range offsetTries {
		before := readClock(unix.CLOCK_MONOTONIC)
		real := readClock(unix.CLOCK_REALTIME)
		after := readClock(unix.CLOCK_MONOTONIC)
		if after-before < best {
			best = after - before
			offset = real - (before + (after-before)/2)
		}
	}
	return offset
}
