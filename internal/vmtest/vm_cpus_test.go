//go:build vmtest

package vmtest_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// A recording on CPUs with gaps between them, which come and go meanwhile, has
// all that ran on them, and says what it has not.
func TestCPUsThatComeAndGo(t *testing.T) {
	host := build(t, runtime.GOARCH, "cmd/tailtrace")
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		const events = vmtest.ScratchDir + "/job/events.bin"
		dir := t.TempDir()
		code, out := guest(t, &vmtest.Guest{
			Kernel:  k,
			Options: vmtest.Options{CPUs: 4},
			Job:     vmtest.Job{Args: []string{"/bin/plugjob", "/bin/tailtrace", events}, Dir: "/", Results: filepath.Dir(events)},
			Files: map[string]string{
				"/bin/plugjob":   build(t, k.Arch, "internal/vmtest/plugjob"),
				"/bin/tailtrace": build(t, k.Arch, "cmd/tailtrace"),
			},
			Results: dir,
		}, 5*time.Minute)
		t.Logf("the guest said:\n%s", out)
		if code != 0 {
			t.Fatalf("exit code %d", code)
		}
		x := explain(t, host, dir)
		checkSums(t, x, len(vmtest.Turns)*vmtest.TurnRequests)
		checkTurns(t, x)
		checkNotes(t, x.Warnings)
		checkEvents(t, filepath.Join(dir, "events.bin"))
	})
}

// checkTurns: requests have their sleeps whatever has come and gone, and their
// faults but in the last turn, which begins as its CPU is back.
func checkTurns(t *testing.T, x *report.Explain) {
	t.Helper()
	last := len(vmtest.Turns) - 1
	sleeps, faults := make([]int, last+1), make([]int, last+1)
	for _, r := range x.Requests {
		turn := (int(r.ID.(float64)) - 1) / vmtest.TurnRequests
		if r.Parts["sleep"] > 0 {
			sleeps[turn]++
		}
		if r.Parts["fault"] > 0 {
			faults[turn]++
		}
	}
	t.Logf("requests with a sleep %v, with faults %v", sleeps, faults)
	for turn := range vmtest.Turns {
		// A slow guest may have slept enough before it gets to sleep.
		if 2*sleeps[turn] < vmtest.TurnRequests || turn != last && faults[turn] < vmtest.TurnRequests {
			t.Errorf("turn %d: of %d requests %d have a sleep, %d faults", turn, vmtest.TurnRequests, sleeps[turn], faults[turn])
		}
	}
}

// checkNotes: nothing is lost but what is said to be missing.
func checkNotes(t *testing.T, warnings []string) {
	t.Helper()
	notes := map[string]int{}
	for _, w := range warnings {
		t.Logf("warning: %s", w)
		if strings.HasPrefix(w, "lost:") && !strings.Contains(w, hiddenFaults) {
			t.Error("something is lost")
		}
		for _, cpu := range []string{"CPU 0", "CPU 1", "CPU 2", "CPU 3"} {
			if strings.HasPrefix(w, "recorder: "+cpu+" ") && strings.Contains(w, "not recorded") {
				notes[cpu]++
			}
		}
	}
	// The second time, CPU 3 may come back before anybody has looked.
	if want := map[string]int{"CPU 2": 1, "CPU 3": 2}; !maps.Equal(notes, want) {
		t.Errorf("times of which something is missing: %v, want %v", notes, want)
	}
}

// checkEvents: each CPU that had requests has events, counts if there are any,
// and its share of the machine's state.
func checkEvents(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := eventfile.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header().CPUs; !slices.Equal(got, []int32{0, 3}) {
		t.Errorf("the recording began on CPUs %v", got)
	}
	counts := slices.ContainsFunc(r.Header().Hooks, func(h eventfile.Hook) bool { return h.Name == "pmu" && h.How != "" })
	events, counted, busy := map[int32]int{}, map[int32]int{}, map[int32]int64{}
	for r.Next() {
		if e := r.Event(); e != nil {
			events[e.CPU]++
			if e.Kind == eventfile.KindCounters && e.Counts != [eventfile.Counters]uint64{} {
				counted[e.CPU]++
			}
		} else if b, ok := r.Meta().(*eventfile.BoxSample); ok {
			for _, c := range b.CPUs {
				busy[c.CPU] += max(c.Busy, 0)
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	for _, cpu := range []int32{0, 2, 3} {
		if events[cpu] == 0 || counts && counted[cpu] == 0 || busy[cpu] == 0 {
			t.Errorf("CPU %d: %d events, %d of them counts, busy for %d ns", cpu, events[cpu], counted[cpu], busy[cpu])
		}
	}
}
