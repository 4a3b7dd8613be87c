package lab

import (
	"errors"

	"golang.org/x/sys/unix"
)

// thread is where a goroutine of the service runs, see quiet. Those that serve
// work on a single request at a time.
type thread struct {
	place
	tid    int
	worker *worker
	delay  int      // see openDelay
	text   [64]byte // what was read there
	waited int64    // as it was after the latest answer
}

// place is the CPUs of a thread, where it goes before ordinary processes.
type place struct {
	setup setup
	cpus  []int
}

// newThread makes the calling thread one that serves.
func (s *service) newThread() *thread {
	t := &thread{place: place{s.setup, []int{s.setup.ServiceCPU}}, worker: s.fast.clone()}
	t.take()
	return t
}

// take puts the calling thread in its place.
func (t *thread) take() {
	t.tid = unix.Gettid()
	t.delay = openDelay()
	t.waited = t.runDelay()
	if err := errors.Join(pin(0, t.cpus...), t.setup.shield(rankLoad)); err != nil {
		panic(err)
	}
}

// check makes sure that this is still the thread that the windows name.
func (t *thread) check() error {
	if unix.Gettid() != t.tid {
		return errors.New("the runtime moved the service to another thread")
	}
	return nil
}
