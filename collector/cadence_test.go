package collector

import (
	"testing"
	"time"
)

func TestCadenceKeepsItsIntervalOnACoarseTimer(t *testing.T) {
	start := time.Now()
	c := &cadence{interval: 100 * time.Millisecond, next: start.Add(100 * time.Millisecond)}
	n := 0
	for i := range 201 { // ticks of 50 ms that come a little early
		if c.due(start.Add(time.Duration(i)*50*time.Millisecond - time.Microsecond)) {
			n++
		}
	}
	if n < 99 || n > 100 {
		t.Errorf("due %d times in 100 intervals", n)
	}
	if !c.due(start.Add(time.Minute)) || c.due(start.Add(time.Minute+time.Millisecond)) {
		t.Error("a long break is made up for")
	}
}
