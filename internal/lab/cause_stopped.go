package lab

import (
	"errors"
	"os"
	"time"
)

// stoppedCause has the peer stop the service (SIGSTOP) while it works.
var stoppedCause = cause{
	name: "stopped",
	service: func(s *service) (serviceSide, error) {
		return serviceSide{inject: func(ns int64) (did, error) {
			if err := (favour{what: stopMe, pid: os.Getpid(), ns: ns}).ask(); err != nil {
				return did{}, err
			}
			return did{1, "SIGSTOP"}, s.workUntilGap(ns / 2)
		}}, nil
	},
}

// workUntilGap works until the clock jumps by more than gap ns.
func (s *service) workUntilGap(gap int64) error {
	begin := now()
	for last := begin; ; {
		s.worker.work(1_000)
		t := now()
		if t-last > gap {
			return nil
		}
		if t-begin > int64(time.Second) {
			return errors.New("the peer did not stop the service")
		}
		last = t
	}
}
