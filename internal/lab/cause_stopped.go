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
			begin := now() // the stop can come before ask returns
			if err := (favour{what: stopMe, pid: os.Getpid(), ns: ns}).ask(); err != nil {
				return did{}, err
			}
			return did{1, "SIGSTOP"}, s.workUntilGap(begin, ns/2)
		}}, nil
	},
}

// workUntilGap works until it has been away for more than gap ns since begin.
func (s *service) workUntilGap(begin, gap int64) error {
	for last := begin; last-begin < int64(time.Second); {
		t := now()
		if t-last > gap {
			return nil
		}
		last = t
		s.worker.work(1_000)
	}
	return errors.New("the peer did not stop the service")
}
