package lab

import (
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// helper is a thread of the service, beside those that serve, which does one
// thing whenever it is told to.
type helper struct {
	setup setup
	do    func(tid int, ns int64)
	ns    uint32 // what it was told; 0 = nothing
}

// newHelper makes a helper that starts with the service's own threads.
func (s *service) newHelper(do func(tid int, ns int64)) *helper {
	h := &helper{setup: s.setup, do: do}
	s.threads = append(s.threads, h.run)
	return h
}

func (h *helper) run(ready func()) {
	tid := takePlace(h.setup, h.setup.Others)
	ready()
	for {
		futexWait(&h.ns, 0)
		ns := atomic.SwapUint32(&h.ns, 0)
		if ns == 0 {
			continue
		}
		// See quiet; here, because the service is in the middle of a request:
		// two goroutines that call it at once can change threads.
		runtime.Gosched()
		h.do(tid, int64(ns))
	}
}

func (h *helper) tell(ns int64) error {
	atomic.StoreUint32(&h.ns, uint32(ns))
	futexWake(&h.ns)
	return nil
}

// takePlace shields the calling thread, keeps it on cpus, and returns its id.
func takePlace(s setup, cpus []int) (tid int) {
	runtime.LockOSThread() // these calls could move it otherwise
	defer runtime.UnlockOSThread()
	if err := errors.Join(pin(0, cpus...), s.shield(rankLoad)); err != nil {
		panic(err)
	}
	return unix.Gettid()
}
