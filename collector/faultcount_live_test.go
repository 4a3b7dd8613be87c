package collector

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// What the kernel counts on the programs' runs is the judge.
func TestMissedFaultsAreThoseThatNoProgramRanFor(t *testing.T) {
	testenv.Root(t)
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	testenv.Need(t, err == nil, "statistics of programs")
	defer stats.Close()
	user := startChild(t, "maps")
	user.tell()
	user.hear()
	k, err := openKernel(&Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	c := startChild(t, "faults")
	c.tell()
	c.hearNumbers()
	time.Sleep(10 * time.Millisecond)
	totals, err := k.faults.stop()
	if err != nil {
		t.Fatal(err)
	}
	for kind, prog := range []string{bpf.KernelProgFaultMinor, bpf.KernelProgFaultMajor} {
		var counted, missed uint64
		for cpu, n := range totals[kind] {
			counted += n
			state, err := k.states.read(int(cpu))
			if err != nil {
				t.Fatal(err)
			}
			missed += n - state.Faults[kind].Counted + state.Faults[kind].Missed
		}
		s, err := k.progs[prog].Stats()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d counted, %d runs, %d missed", prog, counted, s.RunCount, missed)
		if s.RunCount+missed != counted {
			t.Errorf("%s: %d runs and %d missed, the kernel counted %d", prog, s.RunCount, missed, counted)
		}
	}
}
