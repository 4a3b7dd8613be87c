package lab

import (
	"errors"
	"fmt"
	"io"
	"runtime"

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

// service serves one connection from one thread.
type service struct {
	setup   setup
	worker  *worker
	ring    *ring.Publisher
	kind    uint8
	names   []uint8 // of steps
	tid     int
	sides   []serviceSide // of causes
	threads []func()      // what causes need to run beside the main thread
}

func serve(cfg setup) error {
	s := &service{setup: cfg, worker: newWorker(), tid: unix.Gettid(), sides: make([]serviceSide, len(causes))}
	var err error
	if s.ring, err = ring.Create(ring.Options{Service: "lab", Slots: 4096}); err != nil {
		return fmt.Errorf("create the ring: %w", err)
	}
	defer s.ring.Close()
	s.kind = s.ring.Name("request")
	for _, step := range steps {
		s.names = append(s.names, s.ring.Name(step.name))
	}
	for i, c := range causes {
		if c.service == nil || !cfg.Plan.has(c) {
			continue
		}
		if s.sides[i], err = c.service(s); err != nil {
			return fmt.Errorf("prepare %s: %w", c.name, err)
		}
	}
	fd, _, err := unix.Accept(serviceListener)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	if err := sendAtOnce(fd); err != nil {
		return err
	}
	if err := cfg.shield(rankLoad); err != nil {
		return err
	}
	quiet(s.threads...)
	return s.loop(fd)
}

// loop answers requests until the client closes the connection.
func (s *service) loop(fd int) error {
	in, out := make([]byte, requestBytes), make([]byte, replyBytes)
	for {
		if err := rawRead(fd, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		req := decodeRequest(in)
		var side serviceSide
		extra := req.amount
		if req.cause != noCause {
			side, extra = s.sides[req.cause], 0
		}
		ans, err := s.handle(req, side, extra)
		if err != nil {
			return fmt.Errorf("handle request %d: %w", req.id, err)
		}
		ans.encode(out)
		if err := rawWrite(fd, out); err != nil {
			return err
		}
		if side.after != nil {
			if err := side.after(); err != nil {
				return err
			}
		}
		if unix.Gettid() != s.tid {
			return errors.New("the runtime moved the service to another thread")
		}
		runtime.Gosched() // see quiet
	}
}

func (s *service) handle(req request, side serviceSide, extra int64) (reply, error) {
	ans := reply{id: req.id}
	before := threadUsage()
	w := s.ring.BeginOn(uint32(s.tid), req.id, s.kind)
	if side.arm != nil {
		if err := side.arm(req.amount); err != nil {
			return ans, err
		}
	}
	for i, step := range steps {
		if i == injectAt && side.inject != nil {
			begin := now()
			var err error
			if ans.did, err = side.inject(req.amount); err != nil {
				return ans, err
			}
			if ans.did.count > 0 {
				ans.took = now() - begin
			}
		}
		ns := int64(step.share * float64(int64(s.setup.Plan.Work)+extra))
		if side.stretch != nil {
			ns += side.stretch(i, req.amount)
		}
		s.worker.work(ns)
		w.Mark(s.names[i])
	}
	w.End()
	ans.usage = threadUsage().since(before)
	return ans, nil
}

func threadUsage() usage {
	var ru unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &ru)
	return usage{uint32(ru.Minflt), uint32(ru.Majflt), uint32(ru.Nvcsw), uint32(ru.Nivcsw)}
}

func (u usage) since(v usage) usage {
	return usage{u.minor - v.minor, u.major - v.major, u.voluntary - v.voluntary, u.involuntary - v.involuntary}
}
