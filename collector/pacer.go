package collector

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A pacer keeps a recorder that runs as an idle task from falling behind: on a
// box without an idle moment it would hardly ever run. When a ring fills up, or
// the last drain was long ago, the draining thread becomes an ordinary batch
// task until it has caught up.
type pacer struct {
	idle  bool // the process was made an idle task
	eager bool
	last  time.Time
}

const (
	hurryFill = 1.0 / 8  // of a ring, at a drain
	calmFill  = 1.0 / 64 // likewise
	hurryGap  = 500 * time.Millisecond
)

// newPacer is to be called by the goroutine that drains, which it ties to its
// thread.
func newPacer() *pacer {
	runtime.LockOSThread()
	attr, err := unix.SchedGetAttr(0, 0)
	return &pacer{idle: err == nil && attr.Policy == unix.SCHED_IDLE, last: time.Now()}
}

func (p *pacer) close() { runtime.UnlockOSThread() }

// adjust is called before each drain with how full the fullest ring is, 0 to 1.
func (p *pacer) adjust(fill float64, now time.Time) {
	gap := now.Sub(p.last)
	p.last = now
	if !p.idle {
		return
	}
	switch eager := fill > hurryFill || gap > hurryGap; {
	case eager && !p.eager:
		p.set(unix.SCHED_BATCH)
	case p.eager && !eager && fill < calmFill:
		p.set(unix.SCHED_IDLE)
	}
}

func (p *pacer) set(policy uint32) {
	if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy}, 0); err == nil {
		p.eager = policy == unix.SCHED_BATCH
	}
}

// fill is how full the fullest ring is, 0 to 1.
func (r *rings) fill() float64 {
	most := 0.0
	for _, rd := range r.readers {
		most = max(most, float64(rd.AvailableBytes())/float64(rd.BufferSize()))
	}
	return most
}
