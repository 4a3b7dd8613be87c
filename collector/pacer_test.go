package collector

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestPacerHurriesWhenARingFillsAndCalmsDownAfter(t *testing.T) {
	testenv.Root(t)
	done := make(chan struct{})
	go func() { // on a thread of its own, which is thrown away
		defer close(done)
		p := newPacer()
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
			t.Error(err)
			return
		}
		p.idle = true
		at := p.last
		for i, step := range []struct {
			fill float64
			gap  time.Duration
			want uint32
		}{
			{0, 100 * time.Millisecond, unix.SCHED_IDLE},
			{0.3, 100 * time.Millisecond, unix.SCHED_BATCH},
			{0.05, 100 * time.Millisecond, unix.SCHED_BATCH}, // not yet caught up
			{0, 100 * time.Millisecond, unix.SCHED_IDLE},
			{0, 2 * time.Second, unix.SCHED_BATCH}, // starved
			{0, 100 * time.Millisecond, unix.SCHED_IDLE},
		} {
			at = at.Add(step.gap)
			p.adjust(step.fill, at)
			attr, err := unix.SchedGetAttr(0, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if attr.Policy != step.want {
				t.Errorf("step %d: policy %d, want %d", i, attr.Policy, step.want)
			}
		}
	}()
	<-done
}
