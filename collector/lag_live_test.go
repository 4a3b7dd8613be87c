package collector

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestKernelSectionIsNoTimeWithoutTheCPU(t *testing.T) {
	eachFlavour(t, kernelSectionIsNoTimeWithoutTheCPU)
}

// While a thread stays in the kernel although a task with a higher priority
// has woken on its CPU, the clock by which it is charged stands still.
func kernelSectionIsNoTimeWithoutTheCPU(t *testing.T, types string) {
	c, hog := startChild(t, "kernel"), startChild(t, "oftenhog")
	c.tell()
	c.hear()
	var said string
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		hog.tell()
		said = hog.hear()[0]
	})
	testenv.Need(t, said == "done", "real-time scheduling")
	const much = 100_000 // ns
	var lagged, lag, away int64
	for _, e := range rec.of(eventfile.KindCounters, c.tid) {
		if e.Lag > e.Dur {
			t.Errorf("in a stay of %d ns the clock stood still for %d", e.Dur, e.Lag)
		}
		if e.Lag >= much {
			lagged++
			lag += e.Lag
			away += e.Away
		}
	}
	testenv.Need(t, lagged > 0, "a kernel that is not preemptible")
	// A hypervisor may really have taken the CPU in one or another.
	if t.Logf("%d times, for %d ns", lagged, lag); away > lag/2 {
		t.Errorf("%d times the clock stood still, for %d ns, and the CPU is said to have been away for %d", lagged, lag, away)
	}
}
