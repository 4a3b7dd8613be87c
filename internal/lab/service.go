package lab

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/ring"
)

// steps are an ordinary request, with each one's share of the work. The
// injection comes before the step at injectAt.
var steps = []struct {
	name  string
	share float64
}{
	{"read", 0.05}, {"lookup", 0.25}, {"build", 0.15}, {"predict", 0.45}, {"serialize", 0.10},
}

const injectAt = 2

// workLimit is how long an injection may wait for what is to happen to it.
const workLimit = time.Second

// service serves one connection in the shape of the plan.
type service struct {
	setup   setup
	ring    *ring.Publisher
	kind    uint8
	names   []uint8              // of steps
	sides   []serviceSide        // of causes
	threads []func(ready func()) // what causes need to run beside the service's own
	fast    *worker              // to clone
}

// job is a request on its way through the service.
type job struct {
	request
	window *ring.Window
	side   serviceSide
	answer reply
}

func serve(cfg setup) error {
	s := &service{setup: cfg, fast: newWorker(), sides: make([]serviceSide, len(causes))}
	var err error
	if s.ring, err = ring.Create(ring.Options{Service: "lab", Slots: 4096}); err != nil {
		return fmt.Errorf("create the ring: %w", err)
	}
	defer s.ring.Close()
	s.kind = s.ring.Name("request")
	for _, step := range steps {
		s.names = append(s.names, s.ring.Name(step.name))
	}
	// The runtime's own threads too, which hand time slices around.
	if err := cfg.shieldProcess(rankLoad); err != nil {
		return err
	}
	if cfg.Quota != "" {
		if err := joinQuota(cfg.Quota); err != nil {
			return err
		}
	}
	for i, c := range causes {
		if c.service == nil || !cfg.Plan.has(c) {
			continue
		}
		if s.sides[i], err = c.service(s); err != nil {
			return fmt.Errorf("prepare %s: %w", c.name, err)
		}
	}
	switch cfg.Plan.Shape {
	case Pool:
		return s.servePool()
	case Goroutines:
		return s.serveGoroutines()
	default:
		return s.serveThread()
	}
}

func (s *service) accept() (fd int, err error) {
	if fd, _, err = unix.Accept(serviceListener); err != nil {
		return -1, fmt.Errorf("accept: %w", err)
	}
	return fd, sendAtOnce(fd)
}

// serveThread answers requests on this thread until the client closes the
// connection.
func (s *service) serveThread() error {
	fd, err := s.accept()
	if err != nil {
		return err
	}
	quiet(s.threads...)
	t := s.newThread()
	in, out := make([]byte, requestBytes), make([]byte, replyBytes)
	for {
		if err := rawRead(fd, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		j := s.begin(t, in)
		if err := s.finish(t, &j, 0, func() error {
			j.answer.encode(out)
			return rawWrite(fd, out)
		}); err != nil {
			return err
		}
		if err := t.check(); err != nil {
			return err
		}
		runtime.Gosched() // see quiet
	}
}

// begin opens the window of the request in b.
func (s *service) begin(t *thread, b []byte) job {
	j := job{request: decodeRequest(b)}
	j.window = s.ring.BeginOn(uint32(t.tid), j.id, s.kind)
	j.answer.id = j.id
	if j.cause != noCause {
		j.side = s.sides[j.cause]
	}
	return j
}

// finish does the steps of j from one on, injects what it has, and answers.
func (s *service) finish(t *thread, j *job, from int, answer func() error) error {
	before := t.usage()
	j.answer.ahead += before.waited - t.waited
	if j.side.arm != nil {
		if err := j.side.arm(j.amount); err != nil {
			return fmt.Errorf("prepare for request %d: %w", j.id, err)
		}
	}
	for i := from; i < len(steps); i++ {
		if i == injectAt && j.side.inject != nil {
			if err := j.inject(t); err != nil {
				return fmt.Errorf("inject %s into request %d: %w", causes[j.cause].name, j.id, err)
			}
		}
		s.step(t, j, i)
	}
	if j.side.work != nil {
		j.answer.did = did{len(steps), "steps done otherwise"}
	}
	j.window.End()
	j.answer.usage = t.usage().since(before)
	j.answer.sent = now()
	if err := answer(); err != nil {
		return err
	}
	t.waited = t.runDelay()
	if j.side.after == nil {
		return nil
	}
	return j.side.after(t)
}

func (j *job) inject(t *thread) (err error) {
	begin := now()
	j.answer.did, err = j.side.inject(t, j.amount)
	if j.answer.did.count > 0 {
		j.answer.took = now() - begin
	}
	return err
}

// step does one step of j. A request without a cause that has an amount is a
// longer one.
func (s *service) step(t *thread, j *job, i int) {
	usual := stepShare(i, int64(s.setup.Plan.Work))
	switch {
	case j.side.work != nil:
		j.side.work(t, i, usual, j.amount)
	case j.cause == noCause:
		t.worker.work(usual + stepShare(i, j.amount))
	default:
		t.worker.work(usual)
	}
	j.window.Mark(s.names[i])
}

// stepShare is a step's share of ns.
func stepShare(step int, ns int64) int64 { return int64(steps[step].share * float64(ns)) }
