package lab

import (
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// lockCause makes the service wait for a mutex that another of its threads
// holds.
var lockCause = cause{
	name: "lock",
	service: func(s *service) (serviceSide, error) {
		h := &holder{setup: s.setup}
		s.threads = append(s.threads, h.run)
		return serviceSide{
			arm: func(ns int64) error {
				atomic.StoreUint32(&h.order, uint32(ns))
				futexWake(&h.order)
				return nil
			},
			inject: func(int64) (did, error) {
				for !h.held() {
					// The holder may need this CPU to get that far.
					unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
				}
				h.acquire(s.tid)
				h.release()
				return did{1, "mutex wait"}, nil
			},
		}, nil
	},
}

// holder is a thread that takes the mutex when it is told to.
type holder struct {
	mutex
	setup setup
	order uint32 // ns to hold it
}

func (h *holder) run() {
	tid := unix.Gettid()
	if err := errors.Join(pin(0, h.setup.Others...), h.setup.shield(rankLoad)); err != nil {
		panic(err)
	}
	for {
		futexWait(&h.order, 0)
		ns := atomic.SwapUint32(&h.order, 0)
		if ns == 0 {
			continue
		}
		h.acquire(tid)
		rawSleep(int64(ns))
		h.release()
		runtime.Gosched() // see quiet
	}
}
