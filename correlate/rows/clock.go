package rows

import (
	"fmt"
	"slices"
	"time"
)

// ClockKind says what a Set's times count from.
type ClockKind uint8

const (
	ClockMonotonic  ClockKind = iota // since boot, CLOCK_MONOTONIC
	ClockEpoch                       // since 1970, a wall clock that may step
	ClockSinceStart                  // since a start that the file does not tell
)

// Clock is what the stamps of a file were taken to be.
type Clock struct {
	Kind ClockKind
	Unit int64 // ns in one unit of the file
}

func (c Clock) String() string {
	unit := map[int64]string{1: "ns", 1e3: "us", 1e6: "ms", 1e9: "s"}[c.Unit]
	return [...]string{"monotonic", "epoch", "since-start"}[c.Kind] + " " + unit
}

// Wall-clock stamps are looked for between these years only, which keeps the
// ranges of the units, seen as uptimes in ns, as narrow as they can be.
var (
	epochMin = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	epochMax = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// shortest is the shortest median round trip believed of a request over a
// socket, ns. Stamps that would make it shorter are not in ns.
const shortest = 20_000

// detectClock tells the clock from the magnitude of the median stamp, and
// where an uptime in ns could have that magnitude too, from the median of
// the latencies in the file's own units. Whole numbers are ns, as the names
// of the fields say, unless they look like a wall clock's.
func detectClock(first, median stamp, latency float64, fractions bool) (clock Clock, assumed string) {
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
		perSecond := int64(1e9) / unit
		if median.whole < epochMin*perSecond || median.whole/perSecond > epochMax {
			continue
		}
		clock = Clock{ClockEpoch, unit}
		switch {
		case unit == 1: // an uptime of decades is no rival
			return clock, "stamps were taken as ns since 1970 (a wall clock)"
		case latency < shortest && (unit < 1e9 || latency < 600):
			return clock, fmt.Sprintf("stamps were taken as %s since 1970 (a wall clock): as ns the median latency would be %.4g ns",
				clock.String()[len("epoch "):], latency)
		}
	}
	switch {
	case !fractions || median.whole > 1e9 || latency > 600: // not seconds: an uptime of decades, or minutes a request
		return Clock{ClockMonotonic, 1}, ""
	case first.whole < 60:
		return Clock{ClockSinceStart, 1e9}, "stamps were taken as seconds since some start, because they have decimals and begin near zero"
	default:
		return Clock{ClockMonotonic, 1e9}, "stamps were taken as seconds of uptime, because they have decimals"
	}
}

// convert brings the stamps of all rows to ns and quarantines what cannot be.
func (b *builder) convert() {
	b.set.Clock = b.detect()
	kept := b.rows[:0]
	for i, row := range b.rows {
		if problem := b.stamps[i].apply(&row, b.set.Clock.Unit); problem != "" {
			b.quarantine(row.Line, problem)
			continue
		}
		kept = append(kept, row)
	}
	b.rows = kept
}

// detect tells the clock from the medians of what was collected.
func (b *builder) detect() Clock {
	var sends []stamp
	var latencies []float64
	fractions := false
	for _, st := range b.stamps {
		if st.noRecv {
			continue
		}
		sends = append(sends, st.send)
		latencies = append(latencies, float64(st.recv.whole-st.send.whole)+float64(st.recv.frac-st.send.frac)/1e9)
		fractions = fractions || st.send.frac != 0 || st.recv.frac != 0
	}
	if len(sends) == 0 {
		return Clock{ClockMonotonic, 1}
	}
	slices.SortFunc(sends, stamp.compare)
	slices.Sort(latencies)
	clock, assumed := detectClock(sends[0], sends[len(sends)/2], latencies[len(latencies)/2], fractions)
	if assumed != "" {
		b.warn("%s", assumed)
	}
	return clock
}
