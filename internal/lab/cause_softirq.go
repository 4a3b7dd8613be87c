package lab

import (
	"errors"
	"fmt"
	"os"
)

// softirqCause has another process flood the CPU with packets, which the
// network stack works off in a softirq on top of the service.
var softirqCause = cause{
	name:    "softirq",
	natural: true,
	missing: func(p *Plan) error {
		cpus, err := allowedCPUs()
		if err != nil {
			return err
		}
		if len(cpus) < 2 {
			return errors.New("the flood needs a second CPU")
		}
		if _, err := os.Stat(packetSteering); err != nil {
			return fmt.Errorf("the kernel cannot steer packets to a CPU: %w", err)
		}
		return p.try("flood", setup{ServiceCPU: cpus[len(cpus)-1]})
	},
	service: func(*service) (serviceSide, error) {
		return serviceSide{inject: func(t *thread, ns int64) (did, error) {
			begin := now()
			if err := (order{spin: ns}).send(serviceFlood); err != nil {
				return did{}, err
			}
			_, err := t.workUntilAway(begin, ns/2)
			return did{1, "flood"}, err
		}}, nil
	},
}

// workUntilAway works until something else has had the CPU for ns nanoseconds
// since begin, and returns for how long it had.
func (t *thread) workUntilAway(begin, ns int64) (away int64, err error) {
	const (
		chunk = 1_000  // ns of work
		gap   = 20_000 // no chunk takes that long by itself
	)
	for last := begin; ; {
		at := now()
		if at-last > gap {
			away += at - last
		}
		if away >= ns {
			return away, nil
		}
		if at-begin > int64(workLimit) {
			return away, fmt.Errorf("was interrupted for only %d of %d ns", away, ns)
		}
		last = at
		t.worker.work(chunk)
	}
}
