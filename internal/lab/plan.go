package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Plan says what to run. The zero value of a field other than Dir stands for
// a default that makes a run of about ten seconds.
type Plan struct {
	Dir      string        // where rows and truth go; it must exist
	Shape    Shape         // of the service
	Requests int           // measured requests
	Warmup   int           // requests ahead of them, flagged in the rows
	Seed     uint64        // picks the injected requests
	Causes   []string      // as in Shape.Causes; empty = all of these
	PerCause int           // requests for each cause
	Min, Max time.Duration // what one injection costs is drawn from here
	Work     time.Duration // CPU time of an ordinary request
	Gap      time.Duration // between an answer and the next request
	// Exposed lets service and client compete with the machine's other
	// processes. Otherwise they go before them, where that is allowed, so
	// that what befalls a request by itself is little beside what is injected.
	Exposed bool

	// Command runs Main in a new process, whose role is appended; empty =
	// this executable with Subcommand.
	Command []string
}

// An injection is what one request gets.
type injection struct {
	index  int // of the measured request
	cause  *cause
	amount int64 // ns
}

// spacing is the least distance between two injected requests, so that what
// one leaves behind (a cold cache, a stopped clock) is not the next one's.
const spacing = 4

func (p Plan) complete() (Plan, error) {
	setDefault(&p.Shape, Thread)
	setDefault(&p.Requests, 7000)
	setDefault(&p.Warmup, 100)
	setDefault(&p.PerCause, 5)
	setDefault(&p.Min, 5*time.Millisecond)
	setDefault(&p.Max, 8*time.Millisecond)
	sh, err := p.Shape.find()
	if err != nil {
		return p, err
	}
	setDefault(&p.Work, sh.work)
	setDefault(&p.Gap, sh.gap)
	if len(p.Causes) == 0 {
		p.Causes = p.Shape.Causes()
	}
	switch {
	case p.Dir == "":
		return p, errors.New("no directory for the rows")
	case p.Min < 0 || p.Max < p.Min || p.Work < 0 || p.Gap < 0 || p.Warmup < 0:
		return p, errors.New("a negative or empty range")
	case p.PerCause < 0 || len(p.Causes)*p.PerCause*spacing > p.Requests:
		return p, fmt.Errorf("%d requests are too few for %d causes, %d times each",
			p.Requests, len(p.Causes), p.PerCause)
	}
	for _, name := range p.Causes {
		if findCause(name) == nil {
			return p, fmt.Errorf("no cause is named %q", name)
		}
		if !sh.has(name) {
			return p, fmt.Errorf("a service of the shape %s cannot have the cause %s", p.Shape, name)
		}
	}
	return p, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// leaveOut removes the causes that this machine cannot inject.
func (p *Plan) leaveOut() []LeftOut {
	var left []LeftOut
	p.Causes = slices.DeleteFunc(slices.Clone(p.Causes), func(name string) bool {
		c := findCause(name)
		if c.missing == nil {
			return false
		}
		err := c.missing(p)
		if err != nil {
			left = append(left, LeftOut{Cause: name, Why: err.Error()})
		}
		return err != nil
	})
	return left
}

// schedule draws the injected requests, in order of index. It is a function of
// the plan alone, so that every process of a run draws the same.
func (p *Plan) schedule() []injection {
	rng := rand.New(rand.NewPCG(p.Seed, 0x7461696c74726163))
	slots := rng.Perm(p.Requests / spacing)
	var plan []injection
	for _, name := range p.Causes {
		for range p.PerCause {
			amount := int64(p.Min) + rng.Int64N(int64(p.Max-p.Min)+1)
			plan = append(plan, injection{index: slots[0] * spacing, cause: findCause(name), amount: amount})
			slots = slots[1:]
		}
	}
	slices.SortFunc(plan, func(a, b injection) int { return a.index - b.index })
	return plan
}

func (p *Plan) has(c *cause) bool { return slices.Contains(p.Causes, c.name) }
