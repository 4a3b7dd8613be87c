package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// crew is the processes of a run.
type crew struct {
	setup    setup
	service  *child
	client   *child
	children []*child       // in the order in which they end
	after    []func() error // to be done when they have
}

// startCrew starts them all; they live no longer than ctx or the caller.
// What it started is in the crew also where it returns an error.
func startCrew(ctx context.Context, plan Plan) (*crew, error) {
	c := &crew{}
	cpus, err := allowedCPUs()
	if err != nil {
		return c, err
	}
	last := len(cpus) - 1
	c.setup = setup{Plan: plan, ServiceCPU: cpus[last], Others: cpus[:max(last, 1)], CauseNames: Causes()}
	if plan.has(&throttledCause) {
		q, err := newQuota()
		if err != nil {
			return c, err
		}
		c.setup.Quota = q.dir
		c.after = append(c.after, q.remove)
	}
	f := &shared{}
	defer f.close()
	if c.setup.Address, err = f.open(); err != nil {
		return c, err
	}
	if err := c.recruit(f); err != nil {
		return c, err
	}
	for _, ch := range c.children {
		if err := ch.start(ctx, c.setup); err != nil {
			return c, err
		}
	}
	return c, nil
}

// recruit says who takes part.
func (c *crew) recruit(f *shared) error {
	plan := &c.setup.Plan
	service := plan.command()
	if plan.Shape == Asyncio {
		var remove func() error
		var err error
		if service, remove, err = unpackService(plan.Dir); err != nil {
			return err
		}
		c.after = append(c.after, remove)
	}
	member := func(role string, command []string, cpu int, inherit ...*os.File) *child {
		ch := &child{role: role, command: command, cpu: cpu, inherit: inherit}
		c.children = append(c.children, ch)
		return ch
	}
	here, other := c.setup.ServiceCPU, c.setup.Others[len(c.setup.Others)-1]
	c.client = member("client", plan.command(), other, f.toHog)
	c.service = member("service", service, here, f.listener, f.toHog, f.toPeer, f.toFlood)
	member("peer", plan.command(), other, f.ofPeer)
	if needRealtime(plan) == nil {
		member("hog", plan.command(), here, f.ofHog)
	}
	if plan.has(&softirqCause) {
		member("flood", plan.command(), other, f.ofFlood)
	}
	return nil
}

// play waits for the warm-up, lets the caller start recording, and gives the
// client its sign.
func (c *crew) play(started func(pid int) error) error {
	warm := make([]byte, 1)
	if _, err := io.ReadFull(c.client.stdout, warm); err != nil {
		return errors.New("the client ended before the service was warm")
	}
	if err := started(c.service.cmd.Process.Pid); err != nil {
		return err
	}
	if _, err := c.client.stdin.Write([]byte("go\n")); err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	return nil
}

// wait waits for every process to end; each does when the one before it has.
func (c *crew) wait() error {
	var errs []error
	for _, ch := range c.children {
		errs = append(errs, ch.wait())
	}
	for _, f := range c.after {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
