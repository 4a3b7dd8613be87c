package lab

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// irqCause has a timer interrupt that takes long: timers that expire at once
// and have many waiters each, all of which the handler tells.
var irqCause = cause{
	name:    "irq",
	natural: true,
	service: func(*service) (serviceSide, error) {
		c, err := newCrowd()
		if err != nil {
			return serviceSide{}, err
		}
		return serviceSide{inject: func(t *thread, ns int64) (did, error) {
			return repeat(ns, "timer interrupts", func() error { return c.interrupt(t) })
		}}, nil
	},
}

// crowd is timers and those that wait for them: epoll instances, in each of
// which every timer is registered under several descriptors.
type crowd struct {
	timers []int
}

// The kernel allows 1000 registrations of one file.
const (
	crowdTimers  = 16
	crowdNames   = 20 // descriptors of one timer
	crowdWaiters = 50 // epoll instances
)

func newCrowd() (*crowd, error) {
	c := &crowd{}
	waiters := make([]int, crowdWaiters)
	for i := range waiters {
		fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("make waiters of a timer: %w", err)
		}
		waiters[i] = fd
	}
	for range crowdTimers {
		timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
		if err != nil {
			return nil, fmt.Errorf("make a timer: %w", err)
		}
		c.timers = append(c.timers, timer)
		for range crowdNames {
			name, err := unix.FcntlInt(uintptr(timer), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				return nil, fmt.Errorf("make a timer: %w", err)
			}
			for _, w := range waiters {
				if err := unix.EpollCtl(w, unix.EPOLL_CTL_ADD, name, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
					return nil, fmt.Errorf("wait for a timer: %w", err)
				}
			}
		}
	}
	return c, nil
}

// crowdLead is how far ahead, in ns, the timers are set: time to set them all.
const crowdLead = 20_000

// interrupt sets the timers to expire at one moment and works until they have.
func (c *crowd) interrupt(t *thread) error {
	at := now() + crowdLead
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(at)}
	for _, fd := range c.timers {
		_, _, errno := unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), unix.TFD_TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
		if errno != 0 {
			return fmt.Errorf("set a timer: %w", errno)
		}
	}
	for now() < at {
		t.worker.work(1_000)
	}
	return nil
}
