// Package part names the exclusive parts that a request's wall time is split
// into. The parts of a request sum to its length to the nanosecond.
package part

// Part is one class of time. The order is the order in which parts are shown.
type Part uint8

const (
	Running      Part = iota // on the CPU, in none of the below
	IRQ                      // in a hard interrupt, net of NMIs
	Softirq                  // in a softirq, net of interrupts
	NMI                      // in an NMI handler
	Fault                    // on the CPU in a page fault, net of interrupts
	FaultIO                  // off the CPU inside a page fault
	Preempted                // runnable, lost the CPU to somebody else
	Waking                   // woken, waiting for the CPU
	Throttled                // runnable, but out of quota: the kernel said so, or its CPU went idle
	Lock                     // blocked in a futex
	IO                       // blocked on a file or block device
	Net                      // blocked on a socket or in a poll
	Sleep                    // in a timed sleep
	Stopped                  // by a signal or tracer
	Blocked                  // off the CPU on anything else
	OtherRequest             // its thread was running another request
	Await                    // suspended, waiting for something outside
	Client                   // outside the service's window, the service idle
	Unknown                  // the trace has a gap here

	Count = int(Unknown) + 1
)

var names = [Count]string{
	"running", "irq", "softirq", "nmi", "fault", "fault-io", "preempted",
	"waking", "throttled", "lock", "io", "net", "sleep", "stopped", "blocked",
	"other-request", "await", "client", "unknown",
}

func (p Part) String() string {
	if int(p) < Count {
		return names[p]
	}
	return "invalid"
}

// OnCPU reports whether the thread holds a CPU in p.
func (p Part) OnCPU() bool { return p <= Fault }

// Waiting reports whether the thread is runnable without a CPU in p.
func (p Part) Waiting() bool { return p == Preempted || p == Waking || p == Throttled }

// Voluntary reports whether the thread gave up the CPU to wait for something.
func (p Part) Voluntary() bool { return p >= Lock && p <= Sleep || p == Blocked }

// Times holds nanoseconds for each part.
type Times [Count]int64

// Sum returns the total over all parts.
func (t *Times) Sum() int64 {
	var s int64
	for _, v := range t {
		s += v
	}
	return s
}

// OnCPU returns the time in which the thread held a CPU.
func (t *Times) OnCPU() int64 {
	var s int64
	for p := Running; p.OnCPU(); p++ {
		s += t[p]
	}
	return s
}

// OffCPU returns the time between losing the CPU and having it back, inside
// the service: what a request spent off the core, for any reason.
func (t *Times) OffCPU() int64 {
	var s int64
	for p := FaultIO; p <= Blocked; p++ {
		s += t[p]
	}
	return s
}
