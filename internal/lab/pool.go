package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
)

// poolWorkers is how many workers a pool has. Each has a queue of its own,
// which the request chooses.
const poolWorkers = 3

// poolWorker is a thread that works off its queue.
type poolWorker struct {
	*thread
	fd     int
	posted uint32 // jobs put into the queue, ever; workers sleep on it
	queue  [queueLen]job
}

// queueLen is more than the client has under way.
const queueLen = 4

// servePool reads requests on this thread, does their first step, and hands
// them to workers, until the client closes the connection.
func (s *service) servePool() error {
	fd, err := s.accept()
	if err != nil {
		return err
	}
	workers := make([]*poolWorker, poolWorkers)
	threads := s.threads
	for i := range workers {
		w := &poolWorker{fd: fd}
		workers[i] = w
		threads = append(threads, func(ready func()) {
			w.thread = s.newThread()
			ready()
			s.drain(w)
		})
	}
	quiet(threads...)
	return s.dispatch(fd, workers)
}

func (s *service) dispatch(fd int, workers []*poolWorker) error {
	t := s.newThread()
	if err := s.setup.shield(rankAccept); err != nil {
		return err
	}
	in := make([]byte, requestBytes)
	for {
		if err := rawRead(fd, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		j := s.begin(t, in)
		s.step(t, &j, 0)
		waited := t.runDelay()
		j.answer.ahead, t.waited = waited-t.waited, waited
		w := workers[j.shard%poolWorkers]
		// It leaves this thread, and waits until that one has time for it.
		j.window.Suspend(0)
		j.window.Thread(uint32(w.tid))
		w.queue[w.posted%queueLen] = j
		atomic.AddUint32(&w.posted, 1)
		futexWake(&w.posted)
		runtime.Gosched() // see quiet
	}
}

// drain is a worker's life.
func (s *service) drain(w *poolWorker) {
	out := make([]byte, replyBytes)
	for taken := uint32(0); ; taken++ {
		for atomic.LoadUint32(&w.posted) == taken {
			futexWait(&w.posted, taken)
		}
		j := &w.queue[taken%queueLen]
		j.window.Resume(0)
		err := s.finish(w.thread, j, 1, func() error {
			j.answer.encode(out)
			return rawWrite(w.fd, out)
		})
		if err != nil {
			fmt.Fprintf(os.Stderr, "worker: %v\n", err)
			os.Exit(1)
		}
		runtime.Gosched() // see quiet
	}
}
