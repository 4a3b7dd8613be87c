package collector

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// The switches, less what they say was not charged, must give the CPU time that
// the kernel charges the thread: all of it, on a machine whose CPU goes away
// too. Where a CPU is late to switch, the kernel charges the thread that comes,
// and not the one that goes.
func TestTimeOnTheCPUIsWhatTheKernelCharges(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "mixed")
	var told []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	from, to, charged := eventfile.Time(told[0]), eventfile.Time(told[1]), told[2]
	on := int64(to - from)
	var waking, away, late int64
	for _, s := range rec.offCPU(c.tid) {
		on -= max(int64(min(s.to, to)-max(s.from, from)), 0)
		for _, e := range rec.of(eventfile.KindWaking, c.tid) {
			if e.Time >= s.from && e.Time < s.to {
				waking += int64(s.to - e.Time)
			}
		}
	}
	for _, e := range rec.of(eventfile.KindCounters, c.tid) {
		if e.Time > from && e.Time <= to {
			away, late = away+e.Away, late+e.Lag
		}
	}
	t.Logf("on the CPU for %d ns, away for %d of it, charged %d; late to go for %d, and to come for %d at most", on, away, charged, late, waking)
	const close = 0.05
	if c := float64(charged); c < (1-close)*float64(on-away-late) || c > (1+close)*float64(on-away+waking) {
		t.Errorf("the events give %d ns on the CPU, less %d, the kernel charged %d", on, away, charged)
	}
}
