package lab

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shape is how the lab's service is built.
type Shape string

const (
	// Thread does all of a request on the service's one thread.
	Thread Shape = "thread"
	// Pool reads requests on one thread and hands each to a worker thread.
	Pool Shape = "pool"
	// Goroutines serves from a goroutine that is locked to its thread, in an
	// ordinary Go runtime: what the goroutine waits for, the runtime turns
	// into a futex.
	Goroutines Shape = "goroutines"
	// Asyncio is a Python event loop with several requests at once.
	Asyncio Shape = "asyncio"
)

// shape is what is particular to a Shape.
type shape struct {
	name   Shape
	users  int           // requests that are under way at once, at most
	work   time.Duration // as in Plan, by default
	gap    time.Duration // as in Plan, by default
	causes []string      // nil: all that a Go thread can have
}

var shapes = []shape{
	{name: Thread, users: 1, work: 500 * time.Microsecond, gap: 500 * time.Microsecond},
	{name: Pool, users: 1, work: 500 * time.Microsecond, gap: 500 * time.Microsecond},
	{name: Goroutines, users: 1, work: 500 * time.Microsecond, gap: 500 * time.Microsecond, causes: []string{
		"preempted", "waking", "lock", "fault", "slow-step", "slow-core", "queued", "client",
	}},
	{name: Asyncio, users: 3, work: 200 * time.Microsecond, gap: time.Millisecond, causes: []string{
		"preempted", "waking", "lock", "sleep", "net", "stopped", "slow-step", "gc", "queued", "await",
	}},
}

// Shapes returns all shapes, the default first.
func Shapes() []Shape {
	names := make([]Shape, len(shapes))
	for i := range shapes {
		names[i] = shapes[i].name
	}
	return names
}

func (s Shape) find() (*shape, error) {
	i := slices.IndexFunc(shapes, func(x shape) bool { return x.name == s })
	if i < 0 {
		return nil, fmt.Errorf("no service has the shape %q", s)
	}
	return &shapes[i], nil
}

// Causes returns the names of the causes that a service of shape s can have,
// in the order they are shown; nil for an unknown shape.
func (s Shape) Causes() []string {
	sh, err := s.find()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(Causes(), func(name string) bool { return !sh.has(name) })
}

// Possible says why a service of shape s cannot run here; nil if it can.
func (s Shape) Possible() error {
	if s == Asyncio {
		return needPython()
	}
	return nil
}

func (s *shape) has(cause string) bool {
	if s.causes == nil {
		return cause != awaitCause.name
	}
	return slices.Contains(s.causes, cause)
}

// natural reports whether a request with nothing injected may rightly have
// the verdict c: the machine does that of its own accord, the other requests
// that are under way do, or Go's runtime. That hands the time slices of locked
// goroutines around, also those of a pool's workers (see quiet): the worker
// waits in a futex until another thread of the runtime has had a CPU.
func (s *shape) natural(c *cause) bool {
	handed := s.name == Goroutines || s.name == Pool
	return c.natural || s.users > 1 && c == &queuedCause || handed && c == &lockCause
}

// ShapeNames lists the shapes for a person.
func ShapeNames() string {
	var names []string
	for _, s := range Shapes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
