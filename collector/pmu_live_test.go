package collector

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// Where there is a PMU, each stay on a CPU from switch to switch has its counts,
// and where there is none, nothing has any.
func TestCountersAreOfStaysOnTheCPU(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "mixed")
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		c.hearNumbers()
	})
	counts := slices.DeleteFunc(rec.of(eventfile.KindCounters, c.tid), func(e eventfile.Event) bool { return e.ID == 0 })
	i := slices.IndexFunc(rec.header.Hooks, func(h eventfile.Hook) bool { return h.Name == "pmu" })
	if i < 0 {
		t.Fatal("the header does not tell of the PMU")
	}
	hook := &rec.header.Hooks[i]
	if hook.How == "" {
		if len(counts) > 0 || !strings.Contains(hook.Why, "not available") {
			t.Errorf("without a PMU, %+v: %+v", hook, counts)
		}
		return
	}
	since := map[eventfile.Time]bool{}
	stays := 0 // that begin and end in the recording
	for _, e := range rec.events {
		switch {
		case e.Kind == eventfile.KindSwitch && e.Peer == c.tid:
			since[e.Time] = true
		case e.Kind == eventfile.KindSwitch && e.Tid == c.tid && len(since) > 0:
			stays++
		}
	}
	if len(counts) != stays || stays == 0 {
		t.Errorf("%d stays on the CPU, %d with counts", stays, len(counts))
	}
	for _, e := range counts {
		cycles, ok := e.Counted(eventfile.CounterCycles)
		if !ok || cycles == 0 || e.Dur <= 0 || !since[e.Time.Add(-e.Dur)] {
			t.Errorf("not the cycles of a stay: %+v", e)
		}
	}
}

// What somebody else's pinned events leave no room for is not counted, and said
// to be in use.
func TestCountersInUseAreNotAvailable(t *testing.T) {
	testenv.Root(t)
	cpus, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	free := openPMU(cpus[:1])
	hasCycles := free.set()&(1<<eventfile.CounterCycles) != 0
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	if !hasCycles { // see the test above
		return
	}
	const more = 64 // than any CPU has counters
	full := false
	for range more {
		fd, err := openCounter(unix.PERF_COUNT_HW_CPU_CYCLES, cpus[0])
		if err != nil {
			t.Fatal(err)
		}
		defer fd.Close()
		full = full || !fd.counts()
	}
	if !full {
		t.Fatalf("%d counters are not all", more)
	}
	p := openPMU(cpus[:1])
	defer p.Close()
	if h := p.hook(); p.set() != 0 || !strings.Contains(h.Why, errTaken.Error()) {
		t.Errorf("the hook is %+v", h)
	}
}
