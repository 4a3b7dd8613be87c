package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// run records and closes the session.
func (s *session) run(ctx context.Context) (*Summary, error) {
	defer s.close()
	reason, err := s.record(ctx)
	if err != nil {
		reason = ReasonError
	}
	if end := s.finish(reason, err); err == nil {
		err = end
	}
	sum, countErr := s.summary(reason)
	return sum, errors.Join(err, countErr)
}

// record is the time between start and end.
func (s *session) record(ctx context.Context) (reason string, err error) {
	if err := s.introduce(); err != nil {
		return "", err
	}
	if err := s.rec.start(pidsOf(s.targets), !s.cfg.NoFollow); err != nil {
		return "", err
	}
	if s.cfg.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.Duration, errDuration)
		defer cancel()
	}
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	pace := newPacer()
	defer pace.close()
	box, flush, progress := newCadence(boxEvery), newCadence(flushEvery), newCadence(progressEvery)
	for {
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errDuration) {
				return ReasonDuration, nil
			}
			return ReasonSignal, nil
		case <-tick.C:
		}
		t := time.Now()
		pace.adjust(s.k.rings.fill(), t)
		if err := s.step(box.due(t), flush.due(t)); err != nil {
			return "", err
		}
		if s.cfg.Progress != nil && progress.due(t) {
			s.cfg.Progress(s.progress())
		}
		if len(s.rec.targets.live) == 0 {
			return ReasonExited, nil
		}
	}
}

var errDuration = errors.New("the duration is over")

// introduce writes what does not change.
func (s *session) introduce() error {
	self := eventfile.Proc{Pid: int32(os.Getpid()), Self: true}
	s.rec.procs.read(&self)
	if err := s.rec.w.Proc(&self); err != nil {
		return err
	}
	for _, t := range s.targets {
		p := eventfile.Proc{Pid: t.Pid, Comm: t.Comm, Cmdline: t.Cmdline, Cgroup: t.Cgroup, Target: true}
		if err := s.rec.w.Proc(&p); err != nil {
			return err
		}
	}
	for _, n := range machineNames() {
		if err := s.rec.w.Name(&n); err != nil {
			return err
		}
	}
	if s.cfg.BTF != "" {
		if err := s.rec.note("this kernel does not know its types: it is unknown " + lostWithoutTypes); err != nil {
			return err
		}
	}
	for _, text := range s.cfg.Notes {
		if err := s.rec.note(text); err != nil {
			return err
		}
	}
	return s.rec.w.Flush()
}

// step is one round of the timer.
func (s *session) step(box, flush bool) error {
	if err := s.rec.drain(); err != nil {
		return err
	}
	if box {
		if err := s.followCPUs(); err != nil {
			return err
		}
		if err := s.sampleBox(); err != nil {
			return err
		}
		s.windows.Poll(s.window, s.loss, s.note)
	}
	if s.err != nil || !flush {
		return s.err
	}
	s.rec.targets.check(resolver{"/proc"})
	return s.rec.w.Flush()
}

func (s *session) sampleBox() error {
	sample, err := s.box.sample()
	if err != nil {
		return err
	}
	return s.rec.w.Box(&sample)
}

func (s *session) window(w *eventfile.Window) { s.keep(s.rec.window(w)) }

func (s *session) loss(l eventfile.Loss) { s.keep(s.rec.loss(&l)) }

func (s *session) note(text string) {
	s.log(text)
	s.keep(s.rec.note(text))
}

func (s *session) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

// finish detaches, writes what is left, and the end block. After a failure it
// writes only what it can: the file then has no end.
func (s *session) finish(reason string, failed error) error {
	taken := s.k.pmu.check()
	s.checkCPUs()
	faults, err := s.k.faults.stop()
	if err := errors.Join(err, s.k.detach()); err != nil {
		return fmt.Errorf("detach: %w", err)
	}
	if failed != nil {
		return s.rec.w.Flush() // the same failure again, if it was a write
	}
	if err := s.rec.finish(&faults); err != nil {
		return err
	}
	s.windows.Close(s.window, s.loss, s.note)
	for _, what := range taken {
		s.note("not counted up to the end: " + what + ": another user of the PMU came, or the CPU went offline")
	}
	if s.err != nil {
		return s.err
	}
	if err := s.sampleBox(); err != nil {
		return err
	}
	return s.rec.w.Close(&eventfile.End{Time: now(), Reason: reason})
}

func (s *session) progress() Progress {
	return Progress{
		Elapsed:  time.Duration(now() - s.began),
		Events:   s.rec.events,
		Windows:  s.rec.windows,
		Lost:     s.rec.lost,
		Bytes:    s.rec.w.Bytes(),
		AgentCPU: time.Duration(agentCPU() - s.agent),
	}
}

func (s *session) summary(reason string) (*Summary, error) {
	produced, err := s.rec.produced()
	return &Summary{
		Progress: s.progress(),
		Reason:   reason,
		Targets:  s.targets,
		Hooks:    s.k.hooks,
		Kernel:   produced,
	}, err
}

func (s *session) close() {
	if s.cpus != nil {
		s.cpus.close()
	}
	if s.box != nil {
		s.box.close()
	}
	if s.rec != nil {
		s.rec.stacks.close()
	}
	if s.k != nil {
		s.k.close()
	}
}

// cadence is due once an interval, on average however coarse the asking is.
type cadence struct {
	interval time.Duration
	next     time.Time
}

func newCadence(d time.Duration) *cadence { return &cadence{d, time.Now().Add(d)} }

func (c *cadence) due(t time.Time) bool {
	if t.Before(c.next) {
		return false
	}
	c.next = c.next.Add(c.interval)
	if !c.next.After(t) { // what was missed is not made up for
		c.next = t.Add(c.interval)
	}
	return true
}
