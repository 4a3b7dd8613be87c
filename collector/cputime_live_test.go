package collector

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// The switches must give the CPU time that the kernel charges the thread.
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
	if ratio := float64(on) / float64(charged); ratio < 0.8 || ratio > 1.2 {
		t.Errorf("the events give %d ns on the CPU, the kernel charged %d", on, charged)
	}
}
