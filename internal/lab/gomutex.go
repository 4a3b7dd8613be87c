package lab

import (
	"sync"
	"time"
)

// lockGoMutex has another goroutine take a Go mutex. Whoever waits for it is
// parked by the runtime, and with it the thread that it is locked to.
func lockGoMutex() serviceSide {
	var m sync.Mutex
	return serviceSide{
		arm: func(ns int64) error {
			taken := make(chan struct{})
			go func() {
				m.Lock()
				close(taken)
				time.Sleep(time.Duration(ns))
				m.Unlock()
			}()
			<-taken
			return nil
		},
		inject: func(*thread, int64) (did, error) {
			m.Lock()
			defer m.Unlock()
			return did{1, "Go mutex wait"}, nil
		},
	}
}
