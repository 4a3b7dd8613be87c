package rows

import (
	"cmp"
	"math"
	"strconv"
)

// stamp is a time as the file has it, before its unit is known: whole units
// and billionths of one, so that neither epoch nanoseconds nor decimals of
// epoch seconds are rounded through a float64.
type stamp struct {
	whole int64
	frac  int32 // 0 to 999,999,999
}

// parseStamp reads a JSON number. It refuses what an int64 cannot hold.
func parseStamp(text []byte) (stamp, bool) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return stamp{whole: n}, true
	}
	if s, ok := parseDecimal(text); ok {
		return s, true
	}
	f, err := strconv.ParseFloat(string(text), 64) // an exponent
	if err != nil {
		return stamp{}, false
	}
	return floatStamp(f)
}

// parseDecimal reads digits with a point, exact to the ninth decimal.
func parseDecimal(text []byte) (stamp, bool) {
	point := -1
	for i, c := range text {
		if c == '.' {
			point = i
		} else if c < '0' || c > '9' {
			return stamp{}, false
		}
	}
	if point < 1 {
		return stamp{}, false
	}
	whole, err := strconv.ParseInt(string(text[:point]), 10, 64)
	if err != nil {
		return stamp{}, false
	}
	var frac int32
	for i := range 9 {
		frac *= 10
		if at := point + 1 + i; at < len(text) {
			frac += int32(text[at] - '0')
		}
	}
	return stamp{whole, frac}, true
}

func floatStamp(f float64) (stamp, bool) {
	whole := math.Floor(f)
	if !(whole >= -1<<63 && whole < 1<<63) { // NaN too
		return stamp{}, false
	}
	s := stamp{whole: int64(whole), frac: int32(math.Round((f - whole) * 1e9))}
	if s.frac == 1e9 {
		s.whole, s.frac = s.whole+1, 0
	}
	return s, true
}

// scale converts to ns with unit ns in one whole; ok is false on overflow.
func (s stamp) scale(unit int64) (ns int64, ok bool) {
	if s.whole > math.MaxInt64/unit-1 || s.whole < math.MinInt64/unit {
		return 0, false
	}
	return s.whole*unit + int64(s.frac)*unit/1e9, true
}

func (s stamp) compare(t stamp) int {
	if c := cmp.Compare(s.whole, t.whole); c != 0 {
		return c
	}
	return cmp.Compare(s.frac, t.frac)
}
