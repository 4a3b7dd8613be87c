package collector

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// The switches, less what they say was not charged, must give the CPU time that
// the kernel charges the thread: all of it, on a machine whose CPU goes away
// too.
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
	for _, s := range rec.offCPU(c.tid) {
		on -= max(int64(min(s.to, to)-max(s.from, from)), 0)
	}
	var away int64
	for _, e := range rec.of(eventfile.KindCounters, c.tid) {
		if e.Time > from && e.Time <= to {
			away += e.Away
		}
	}
	t.Logf("on the CPU for %d ns, away for %d of it, charged %d", on, away, charged)
	if ratio := float64(on-away) / float64(charged); ratio < 0.95 || ratio > 1.05 {
		t.Errorf("the events give %d ns on the CPU, less %d, the kernel charged %d", on, away, charged)
	}
}
