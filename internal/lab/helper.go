package lab

import (
	"runtime"
	"sync/atomic"
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
	t := &thread{place: place{h.setup, h.setup.Others}}
	t.take()
	ready()
	for {
		futexWait(&h.ns, 0)
		ns := atomic.SwapUint32(&h.ns, 0)
		if ns == 0 {
			continue
		}
		h.do(t.tid, int64(ns))
		runtime.Gosched() // see quiet
	}
}

func (h *helper) tell(ns int64) error {
	atomic.StoreUint32(&h.ns, uint32(ns))
	futexWake(&h.ns)
	return nil
}
