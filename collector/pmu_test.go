package collector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestPMUHookSaysWhatIsCountedAndWhatIsNot(t *testing.T) {
	on := func(cpus ...int32) pmuCounter {
		c := pmuCounter{events: map[int32]perfFD{}}
		for _, cpu := range cpus {
			c.events[cpu] = -1
		}
		return c
	}
	off := func(c pmuCounter, err error, cpus ...int32) pmuCounter {
		c.lacks, c.err = cpus, err
		return c
	}
	for name, tt := range map[string]struct {
		pmu  pmu
		want eventfile.Hook
		set  uint8
	}{
		"all of it": {
			pmu{[3]pmuCounter{on(0, 1), on(0, 1), on(0, 1)}},
			eventfile.Hook{How: "cycles, instructions, backend stalls"}, 7,
		},
		"cycles alone": {
			pmu{[3]pmuCounter{on(0), off(on(), unix.ENOENT, 0), off(on(), unix.EOPNOTSUPP, 0)}},
			eventfile.Hook{How: "cycles; not available: instructions, backend stalls"}, 1,
		},
		"two kinds of cores": {
			pmu{[3]pmuCounter{on(0, 1, 2), off(on(0), unix.ENOENT, 1, 2), off(on(), unix.ENOENT, 0, 1, 2)}},
			eventfile.Hook{How: "cycles, instructions (not on CPUs 1, 2); not available: backend stalls"}, 3,
		},
		"somebody else has one": {
			pmu{[3]pmuCounter{off(on(), errTaken, 0), on(0), on(0)}},
			eventfile.Hook{How: "instructions, backend stalls; not available: cycles (in use by somebody else)"}, 6,
		},
		"nothing": {
			pmu{[3]pmuCounter{off(on(), unix.ENOENT, 0), off(on(), unix.ENOENT, 0), off(on(), unix.ENOENT, 0)}},
			eventfile.Hook{Why: "not available: no PMU, or the hypervisor hides it"}, 0,
		},
		"no right to it": {
			pmu{[3]pmuCounter{off(on(), unix.EACCES, 0), off(on(), unix.EACCES, 0), off(on(), unix.EACCES, 0)}},
			eventfile.Hook{Why: "not available: permission denied"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := tt.pmu.hook()
			if (h.Lost == "") != (h.How != "") {
				t.Errorf("lost: %q", h.Lost)
			}
			h.Lost = ""
			tt.want.Name = "pmu"
			if diff := cmp.Diff(tt.want, h); diff != "" {
				t.Errorf("hook (-want +got):\n%s", diff)
			}
			if got := tt.pmu.set(); got != tt.set {
				t.Errorf("counters %b, want %b", got, tt.set)
			}
		})
	}
}

// An event that reads otherwise is not one that counted nothing: a pinned one
// without a place on its CPU reads as the end of file.
func TestOnlyAnEventThatCountsAllTheTimeCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		text string // the count, the ns enabled, the ns running
		want bool
	}{
		"all the time":             {"cccccccceeeeeeeeeeeeeeee", true},
		"by turns with others":     {"cccccccceeeeeeeerrrrrrrr", false},
		"no place on its CPU":      {"", false},
		"not the format asked for": {"cccccccc", false},
	} {
		path := filepath.Join(t.TempDir(), "event")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open(path, unix.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := perfFD(fd).counts(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		unix.Close(fd)
	}
}
