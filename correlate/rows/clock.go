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
	return [...]string{"monotonic", "epoch", "since-start"}[c.Kind] + " " + unitName(c.Unit)
}

func unitName(unit int64) string {
	return map[int64]string{1: "ns", 1e3: "us", 1e6: "ms", 1e9: "s"}[unit]
}

// Wall-clock stamps are looked for between these years only, which keeps the
// ranges of the units, seen as uptimes in ns, as narrow as they can be.
var (
	epochMin = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	epochMax = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
)

// longestMedian tells, for each unit of a wall clock, up to which median
// latency in that unit its stamps are believed to be what they look like.
// Above it they are an uptime in ns of a fast service: 200 ms or 200 us at 16
// to 25 days of uptime, 20 s or 20 us at 23 to 36 minutes, 600 s at 2 seconds.
var longestMedian = map[int64]float64{1e3: 200_000, 1e6: 20_000, 1e9: 600}

// longestFile is how long, in seconds, the middle four fifths of a file's rows
// are believed to have taken by a wall clock.
const longestFile = 31 * 24 * 3600

// scales is what the clock is told from, in the file's own units.
type scales struct {
	first, median stamp   // of the send times
	span          int64   // of the middle four fifths of them
	latency       float64 // median
	fractions     bool    // a stamp is not whole
}

// detectClock tells the clock from the magnitude of the median stamp, and
// where an uptime in ns could have that magnitude too, from the latencies and
// the length of the file. Whole numbers are ns, as the names of the fields
// say, unless they look like a wall clock's.
func detectClock(x scales) (clock Clock, assumed string) {
	for _, unit := range []int64{1, 1e3, 1e6, 1e9} {
		perSecond := int64(1e9) / unit
		if x.median.whole < epochMin*perSecond || x.median.whole/perSecond > epochMax || x.span/perSecond > longestFile {
			continue
		}
		clock = Clock{ClockEpoch, unit}
		if unit == 1 { // an uptime of decades is no rival
			return clock, "stamps were taken as ns since 1970 (a wall clock)"
		}
		if x.latency < longestMedian[unit] {
			return clock, fmt.Sprintf("stamps were taken as %s since 1970 (a wall clock): as ns the median latency would be %.4g ns", unitName(unit), x.latency)
		}
	}
	switch {
	case !x.fractions || x.median.whole > 1e9 || x.latency > 600: // not seconds: an uptime of decades, or minutes a request
		return Clock{ClockMonotonic, 1}, ""
	case x.first.whole < 60:
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
	var x scales
	for _, st := range b.stamps {
		if st.noRecv {
			continue
		}
		sends = append(sends, st.send)
		latencies = append(latencies, float64(st.recv.whole-st.send.whole)+float64(st.recv.frac-st.send.frac)/1e9)
		x.fractions = x.fractions || st.send.frac != 0 || st.recv.frac != 0
	}
	n := len(sends)
	if n == 0 {
		return Clock{ClockMonotonic, 1}
	}
	slices.SortFunc(sends, stamp.compare)
	slices.Sort(latencies)
	x.first, x.median, x.latency = sends[0], sends[n/2], latencies[n/2]
	x.span = sends[n-1-n/10].whole - sends[n/10].whole
	clock, assumed := detectClock(x)
	if assumed != "" {
		b.warn("%s", assumed)
	}
	return clock
}
