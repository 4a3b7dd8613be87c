package lab

import (
	"errors"
	"fmt"
)

// slowStepCause gives one step more to do and leaves the others alone.
var slowStepCause = cause{
	name:    "slow-step",
	onCPU:   true,
	natural: true,
	service: func(*service) (serviceSide, error) {
		return serviceSide{work: func(t *thread, step int, usual, ns int64) {
			// By turns one of the two long steps.
			if slow := []string{"lookup", "predict"}[ns%2]; steps[step].name == slow {
				usual += ns
			}
			t.worker.work(usual)
		}}, nil
	},
}

// slowCoreCause has every step wait for memory, as on a core whose caches
// somebody else has filled: as many instructions as ever, and each takes
// longer.
var slowCoreCause = cause{
	name:    "slow-core",
	onCPU:   true,
	natural: true,
	service: func(s *service) (serviceSide, error) {
		c := newColdMemory()
		if c.miss < 4*c.hit {
			return serviceSide{}, fmt.Errorf("a read of %d MiB takes %.1f ns, and one of the cache %.1f ns",
				coldBytes>>20, c.miss, c.hit)
		}
		return serviceSide{work: func(t *thread, step int, usual, ns int64) {
			t.worker.workCold(c, usual, stepShare(step, ns))
		}}, nil
	},
}

// moreWorkCause has every step do more.
var moreWorkCause = cause{
	name:  "more-work",
	onCPU: true,
	missing: func(*Plan) error {
		if !hasPMU() {
			return errors.New("no PMU: nothing counts instructions here")
		}
		return nil
	},
	service: func(*service) (serviceSide, error) {
		return serviceSide{work: func(t *thread, step int, usual, ns int64) {
			t.worker.work(usual + stepShare(step, ns))
		}}, nil
	},
}
