package timeline

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// TestThrottledTimeIsCountedOnce: a thread is throttled for 8 ms, by the
// kernel's word and by the cgroup's counter, and later woken on a CPU that
// stays idle for 3 ms.
func TestThrottledTimeIsCountedOnce(t *testing.T) {
	const ms = Time(1e6)
	for name, tt := range map[string]struct {
		counted Time
		want    string
	}{
		"the counter has no more than that": {8 * ms, "waking"},
		"the counter has both":              {11 * ms, "throttled"},
	} {
		t.Run(name, func(t *testing.T) {
			var last Segment
			b := New(func(s *Segment) { last = *s }, nil, func(int32) string { return "futex" })
			b.Throttled = func(from, to Time) int64 { return int64(tt.counted) }
			throttled := sw(10*ms, 0, svc, 0, 0)
			throttled.Flags |= eventfile.FlagThrottled
			for _, e := range append(names(), sw(9*ms, 0, 0, svc, 0), throttled, sw(18*ms, 0, 0, svc, 0),
				blockIn(19*ms, 0, svc, 0, 202), waking(30*ms, 1, svc, other, 0), sw(33*ms, 0, 0, svc, 0)) {
				b.Add(&e)
			}
			if got := last.Part.String(); got != tt.want || last.Len() != int64(3*ms) {
				t.Errorf("the last wait: %s of %d ns, want %s", got, last.Len(), tt.want)
			}
		})
	}
}
