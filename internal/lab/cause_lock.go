package lab

import "golang.org/x/sys/unix"

// lockCause makes the service wait for another of its threads, which holds a
// mutex or has yet to signal a condition, by turns.
var lockCause = cause{
	name:    "lock",
	blocked: true,
	service: func(s *service) (serviceSide, error) {
		if s.setup.Plan.Shape == Goroutines {
			return lockGoMutex(), nil
		}
		forms := []serviceSide{lockMutex(s), lockCondition(s)}
		turn := 0
		return serviceSide{
			arm: func(ns int64) error {
				turn = (turn + 1) % len(forms)
				return forms[turn].arm(ns)
			},
			inject: func(t *thread, ns int64) (did, error) { return forms[turn].inject(t, ns) },
		}, nil
	},
}

// lockMutex has a helper take a mutex and hold it.
func lockMutex(s *service) serviceSide {
	var m mutex
	h := s.newHelper(func(tid int, ns int64) {
		m.acquire(tid)
		rawSleep(ns)
		m.release()
	})
	return serviceSide{
		arm: h.tell,
		inject: func(t *thread, _ int64) (did, error) {
			for !m.held() {
				// The helper may need this CPU to get that far.
				unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			}
			m.acquire(t.tid)
			m.release()
			return did{1, "mutex wait"}, nil
		},
	}
}

// lockCondition has a helper make a condition come true.
func lockCondition(s *service) serviceSide {
	var c condition
	h := s.newHelper(func(tid int, ns int64) {
		rawSleep(ns)
		c.signal(tid)
	})
	return serviceSide{
		arm: h.tell,
		inject: func(t *thread, _ int64) (did, error) {
			c.wait(t.tid)
			return did{1, "condition wait"}, nil
		},
	}
}
