package collector

import (
	"fmt"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// lostByPlug is what is missing of a CPU while it has no perf events. What it
// runs is seen all the same: its ring is there from the beginning.
const lostByPlug = "its page faults, which count as running or blocked, its clock samples, and what it counted"

// followCPUs notices CPUs that have gone and come, and gives these their events.
func (s *session) followCPUs() error {
	came, went, err := s.cpus.look()
	if err != nil || len(came)+len(went) == 0 {
		return err
	}
	for _, cpu := range went {
		s.note(fmt.Sprintf("CPU %d went offline by %s after the start", cpu, s.since(now())))
	}
	for _, cpu := range came {
		err := s.k.open(cpu)
		switch at := s.since(now()); {
		case err != nil:
			s.note(fmt.Sprintf("CPU %d came online by %s after the start: not recorded: %s: %v", cpu, at, lostByPlug, err))
		case len(s.k.perf) > 0: // else it is not observed on any CPU
			s.note(fmt.Sprintf("CPU %d came online: not recorded up to %s after the start: %s", cpu, at, lostByPlug))
		}
	}
	s.box.change(s.cpus.online, came)
	return nil
}

// checkCPUs looks for the last time, and finds those CPUs that went and came
// back between two looks.
func (s *session) checkCPUs() {
	s.keep(s.followCPUs())
	for _, cpu := range s.cpus.online {
		if at, ended := s.k.ended(cpu); ended {
			s.note(fmt.Sprintf("CPU %d went offline and came back at once: not recorded from %s after the start on: %s", cpu, s.since(at), lostByPlug))
		}
	}
}

func (s *session) since(t eventfile.Time) time.Duration {
	return max(t-s.began, 0).Duration().Round(time.Millisecond)
}

// open gives a CPU that has come online what the others have.
func (k *kernel) open(cpu int32) error {
	for _, h := range k.perf {
		if err := h.open(cpu); err != nil {
			return err
		}
	}
	return k.pmu.open(cpu, k.maps.Maps)
}

// ended returns when the events of a CPU ended, if they have. All go with it.
func (k *kernel) ended(cpu int32) (at eventfile.Time, ended bool) {
	if len(k.perf) == 0 {
		return 0, false
	}
	return k.perf[0].ended(cpu)
}
