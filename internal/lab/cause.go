package lab

import "slices"

// A cause is one way to make a request slow and nothing else wrong with it.
// Each has a file of its own; causes lists them.
type cause struct {
	name string // the verdict that a request with it should get
	// natural: the machine does this to requests of its own accord too, so a
	// request with nothing injected may rightly get this verdict.
	natural bool
	// onCPU: all of it is the thread's own CPU time; runnable: it is time in
	// which the thread waits for the CPU; blocked: in which it does not want it.
	onCPU, runnable, blocked bool
	// rest is how long, ns, the service is left alone after a request with it.
	rest int64
	// missing says why this machine cannot inject it; nil = all can.
	missing func(*Plan) error
	// service and client prepare the cause in the process that injects it,
	// before the warm-up; nil = it has no part there.
	service func(*service) (serviceSide, error)
	client  func(*client) (clientSide, error)
}

// serviceSide is what the service does in a request that has the cause. A nil
// hook does nothing; ns is what the injection should cost.
type serviceSide struct {
	// arm runs as the request begins, so that what it starts elsewhere is
	// under way by the time of inject.
	arm func(ns int64) error
	// inject runs in the middle of the request, on the thread that has it.
	inject func(t *thread, ns int64) (did, error)
	// work does a step in place of the service, which would work for usual
	// ns; over all steps it should take ns more than that.
	work func(t *thread, step int, usual, ns int64)
	// after tidies up once the answer is on its way.
	after func(t *thread) error
}

// clientSide is what the client does; the hooks are like the service's.
type clientSide struct {
	before func(at int, ns int64) (did, error) // the request of row at is about to be sent
	late   func(at int, ns int64) (did, error) // it was sent; its answer has not been read
}

// did says what an injection consisted of: 6 "fsyncs", 1 "ppoll". The zero
// value stands for nothing: it was not this hook's turn, or it came to nothing.
type did struct {
	count int
	what  string
}

// call runs a hook that need not be there.
func call(hook func(at int, ns int64) (did, error), at int, ns int64) (did, error) {
	if hook == nil {
		return did{}, nil
	}
	return hook(at, ns)
}

// causes is the registry. The wire carries an index into it.
var causes []*cause

func init() {
	causes = []*cause{
		&preemptedCause, &wakingCause, &throttledCause,
		&lockCause, &sleepCause, &netCause, &ioCause, &stoppedCause,
		&faultCause, &faultIOCause, &irqCause, &softirqCause,
		&slowStepCause, &slowCoreCause, &moreWorkCause,
		&gcCause, &queuedCause, &awaitCause, &clientCause,
	}
}

// Causes returns the names of all causes, in the order they are shown.
func Causes() []string {
	names := make([]string, len(causes))
	for i, c := range causes {
		names[i] = c.name
	}
	return names
}

func findCause(name string) *cause {
	for _, c := range causes {
		if c.name == name {
			return c
		}
	}
	return nil
}

// index returns c's place in the registry.
func (c *cause) index() int { return slices.Index(causes, c) }

// clientOnly reports whether the service has no part in c.
func (c *cause) clientOnly() bool { return c.client != nil && c.service == nil }
