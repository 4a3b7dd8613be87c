package collector

import (
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/collector/symbols"
)

// Which stacks are taken.
const (
	StacksOff = "off"
	StacksCPU = "cpu" // at clock samples
	StacksAll = "all" // and when a thread blocks
)

func stacksHook(which string) eventfile.Hook {
	h := eventfile.Hook{Name: "stacks", How: "bpf_get_stack"}
	switch which {
	case StacksOff:
		h.How, h.Why, h.Lost = "", "turned off", "in which functions threads ran and waited"
	case StacksCPU:
		h.How += " at samples"
	}
	return h
}

// stackNamer gives stacks their functions beside the recording: that reads
// files of the traced processes, which takes as long as it takes.
type stackNamer struct {
	seen  *ebpf.Map // what the kernel side takes as known
	in    chan *symbols.Raw
	named chan *eventfile.Stack
	last  chan struct{} // closed when nothing more goes in: no time to rest
	quit  chan struct{}
}

const (
	maxStacksWaiting = 4096
	// namingShare is how much of one CPU naming may take.
	namingShare = 0.2
	// maxNamingDebt is when it rests.
	maxNamingDebt = 10 * time.Millisecond
	// oneNaming is what counts of one stack: it may be the first of a large
	// program, or have waited for the CPU.
	oneNaming = 5 * time.Millisecond
	// lastNaming is how long the end of a recording waits for it.
	lastNaming = 10 * time.Second
)

func newStackNamer(seen *ebpf.Map) *stackNamer {
	n := &stackNamer{
		seen:  seen,
		in:    make(chan *symbols.Raw, maxStacksWaiting),
		named: make(chan *eventfile.Stack, maxStacksWaiting),
		last:  make(chan struct{}),
		quit:  make(chan struct{}),
	}
	go n.work()
	return n
}

// close lets go of what has not been named.
func (n *stackNamer) close() { close(n.quit) }

func (n *stackNamer) work() {
	r := symbols.NewResolver()
	defer r.Close()
	var debt time.Duration
	for {
		var raw *symbols.Raw
		select {
		case raw = <-n.in:
		case <-n.quit:
			return
		}
		if raw == nil { // after the last
			close(n.named)
			return
		}
		began := time.Now()
		s := r.Resolve(raw)
		debt += time.Duration(float64(min(time.Since(began), oneNaming)) * (1/namingShare - 1))
		select {
		case n.named <- s:
		case <-n.quit:
			return
		}
		if debt > maxNamingDebt {
			n.rest(debt)
			debt = 0
		}
	}
}

func (n *stackNamer) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-n.last:
	case <-n.quit:
	}
}

// see takes a stack from a ring. One for which there is no room is forgotten
// by the kernel side, so that it sends it again.
func (n *stackNamer) see(record []byte) error {
	e, err := view[bpf.KernelStackEvent](record)
	if err != nil {
		return err
	}
	if int(e.KernelFrames) > len(e.Kernel) || int(e.UserFrames) > len(e.User) {
		return fmt.Errorf("stack of %d and %d frames", e.KernelFrames, e.UserFrames)
	}
	raw := &symbols.Raw{
		ID:     e.Id,
		Pid:    int32(e.Tgid),
		Kernel: append([]uint64(nil), e.Kernel[:e.KernelFrames]...),
		User:   append([]uint64(nil), e.User[:e.UserFrames]...),
		Deep:   int(e.UserFrames) == len(e.User),
	}
	select {
	case n.in <- raw:
	default:
		_ = n.seen.Delete(&e.Id) // it may have been forgotten already
	}
	return nil
}

// collect passes on the stacks that have been named.
func (n *stackNamer) collect(each func(*eventfile.Stack) error) error {
	for {
		select {
		case s, open := <-n.named:
			if !open {
				return nil
			}
			if err := each(s); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// finish waits a while for the rest.
func (n *stackNamer) finish(each func(*eventfile.Stack) error) (unnamed int, err error) {
	close(n.last)
	close(n.in)
	timeout := time.After(lastNaming)
	for {
		select {
		case s, open := <-n.named:
			if !open {
				return 0, nil
			}
			if err := each(s); err != nil {
				return 0, err
			}
		case <-timeout:
			return len(n.in), nil
		}
	}
}
