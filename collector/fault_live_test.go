package collector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestFaultsAreThoseThatTheKernelCounts(t *testing.T) {
	eachFlavour(t, faultsAreThoseThatTheKernelCounts)
}

func faultsAreThoseThatTheKernelCounts(t *testing.T, types string) {
	c := startChild(t, "faults")
	var told []int64
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	hidden := int64(rec.lost(eventfile.LossSkipped)) // of others too; nearly always 0
	from, to := eventfile.Time(told[0]), eventfile.Time(told[1])
	counted, touched := told[2], told[3]
	var all, ours int64
	var inside int64
	for _, e := range rec.of(eventfile.KindFault, c.tid) {
		if e.Time < from || e.Time > to {
			continue
		}
		all++
		if e.Flags&eventfile.FlagCut != 0 && hidden == 0 || e.Dur < 0 {
			t.Fatalf("a fault without its start: %+v", e)
		}
		inside += e.Dur
		if int64(e.Addr) >= told[4] && int64(e.Addr) < told[5] {
			ours++
			if e.Flags&eventfile.FlagUser == 0 || e.Flags&eventfile.FlagMajor != 0 {
				t.Fatalf("a minor fault in user mode is seen as %+v", e)
			}
		}
	}
	if ours > touched || ours+hidden < touched {
		t.Errorf("%d faults on the pages that were touched %d times; lost: %+v", ours, touched, rec.losses)
	}
	if all > counted || all+hidden < counted {
		t.Errorf("%d faults, the kernel counted %d", all, counted)
	}
	if inside >= int64(to-from) {
		t.Errorf("faults took %d of %d ns", inside, to-from)
	}
	// What the events do not enclose must fit into the rest of the time.
	if trap := rec.header.FaultTrap; trap < 0 || trap*all > int64(to-from)-inside {
		t.Errorf("a fault costs %d ns outside its events; %d of them, in %d ns", trap, all, int64(to-from)-inside)
	}
}

// A kernel that is preemptible runs no programs on perf events while a task is
// in a system call on a map, even if another one has its CPU.
func TestFaultsThatTheKernelDidNotShowAreCounted(t *testing.T) {
	testenv.Root(t)
	c, user := startChild(t, "faults"), startChild(t, "maps")
	user.tell()
	user.hear()
	var told []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	from, to := eventfile.Time(told[0]), eventfile.Time(told[1])
	counted := uint64(told[2])
	seen := uint64(0)
	for _, e := range rec.of(eventfile.KindFault, c.tid) {
		if e.Time >= from && e.Time <= to {
			seen++
		}
	}
	missed := rec.lost(eventfile.LossSkipped) // of others too, before and after
	t.Logf("%d of %d faults seen, %d missed", seen, counted, missed)
	if seen > counted || seen+missed < counted {
		t.Errorf("%d faults seen and %d missed, the kernel counted %d", seen, missed, counted)
	}
	for _, l := range rec.losses {
		if l.Source == eventfile.LossSkipped && (l.First > l.Last || l.First < rec.header.Started || l.Last > rec.end.Time) {
			t.Errorf("loss %+v is not within the recording", l)
		}
	}
}

func TestFaultThatFailsDoesNotStayOpen(t *testing.T) {
	eachFlavour(t, faultThatFailsDoesNotStayOpen)
}

func faultThatFailsDoesNotStayOpen(t *testing.T, types string) {
	needRegisters(t, types)
	c := startChild(t, "badfaults")
	var told []int64
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	if told[2] != 50 {
		t.Fatalf("%d bad accesses of 50", told[2])
	}
	asleep := 0
	for _, s := range rec.offCPU(c.tid) {
		if s.from < eventfile.Time(told[0]) || s.to > eventfile.Time(told[1]) || s.out.State == eventfile.StateRunning {
			continue
		}
		asleep++
		if s.out.FaultStart != 0 {
			t.Fatalf("blocked in system call %q, yet inside a fault that began %d ns earlier",
				syscallNames[uint32(s.out.Syscall)], s.from-s.out.FaultStart)
		}
	}
	if asleep < 60 {
		t.Errorf("%d times blocked, want 60 at least", asleep)
	}
}

func TestMajorFaultEnclosesItsWaitForTheDisk(t *testing.T) {
	testenv.Root(t)
	needRegisters(t, "")
	path := filepath.Join(t.TempDir(), "data")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "majorfaults", "TAILTRACE_TEST_FILE="+path)
	var told []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	testenv.Need(t, told[0] > 0, "a file system whose pages can be dropped")
	spans := rec.offCPU(c.tid)
	var major, waited int64
	for _, e := range rec.of(eventfile.KindFault, c.tid) {
		if e.Flags&eventfile.FlagMajor == 0 {
			continue
		}
		major++
		begin := e.Time.Add(-e.Dur)
		for _, s := range spans {
			if s.from < begin || s.to > e.Time {
				continue
			}
			waited++
			if s.out.FaultStart != begin {
				t.Errorf("off the CPU inside the fault that began at %d, yet in that of %d", begin, s.out.FaultStart)
			}
			break
		}
	}
	if major != told[0] {
		t.Errorf("%d major faults, the kernel counted %d", major, told[0])
	}
	// A disk may answer before the task has left its CPU, but not always.
	if waited == 0 {
		t.Errorf("none of %d major faults has its wait inside", major)
	}
}
