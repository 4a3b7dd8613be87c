package stats

import (
	"testing"
)

func TestSpreadOf(t *testing.T) {
	s := SpreadOf([]int64{50, 10, 30, 20, 40})
	if s.Min != 10 || s.Median != 30 || s.Max != 50 || s.Coverage != .9375 {
		t.Errorf("%+v", s)
	}
	// P(median of 5 resampled runs = the lowest) = P(Bin(5, 1/5) >= 3) = .058.
	if *s.Bootstrap[0] != 10 || *s.Bootstrap[1] != 50 {
		t.Errorf("bootstrap %d..%d", *s.Bootstrap[0], *s.Bootstrap[1])
	}
	var many []int64
	for i := range int64(15) {
		many = append(many, i)
	}
	// P(Bin(15, 3/15) >= 8) = .004, P(Bin(15, 4/15) >= 8) = .030.
	if s := SpreadOf(many); *s.Bootstrap[0] != 3 || *s.Bootstrap[1] != 11 {
		t.Errorf("bootstrap of 15 runs %d..%d", *s.Bootstrap[0], *s.Bootstrap[1])
	}
}
