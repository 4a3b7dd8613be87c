package eventfile

import "time"

// Time is a point on CLOCK_MONOTONIC in nanoseconds. All times in an events
// file are on that one clock; BoxSample.RealtimeOffset leads to wall time.
type Time int64

// Add returns t shifted by d nanoseconds.
func (t Time) Add(d int64) Time { return t + Time(d) }

// Duration returns t as a duration since the clock's origin, for printing.
func (t Time) Duration() time.Duration { return time.Duration(t) }

// Kind says what an Event records. The numbers are part of the format.
type Kind uint8

const (
	// KindTask introduces the identity behind a tid: Tid, Tgid, Comm, Flags
	// (FlagTarget), and for targets Start. It holds for later events until
	// the next KindTask of that tid, because tids are reused and renamed.
	KindTask Kind = 1
	// KindSwitch is a context switch on CPU: Tid leaves, Peer arrives.
	// State is what the leaving task was; where it is a target that blocked
	// or was preempted, Syscall, Args, FaultStart and Owner may be set.
	// Where Peer is a target, Dur is for how long tasks that are not have
	// run on CPU since a target left it.
	KindSwitch Kind = 2
	// KindWaking is a wakeup of the target Tid by Peer, the task that was
	// current on CPU; Flags tells whether an interrupt did it (then Peer
	// is only a bystander). DestCPU is where the target last ran.
	KindWaking Kind = 3
	// KindWakeupNew is the first wakeup of the new target thread Tid.
	KindWakeupNew Kind = 4
	// KindMigrate moves the runnable target Tid to the run queue of DestCPU.
	KindMigrate Kind = 5
	// KindFork is a new thread or process Peer of the target Tid.
	KindFork Kind = 6
	// KindExec is an exec in target Tid; Peer is the tid it had before.
	KindExec Kind = 7
	// KindExit is the end of target Tid; FlagLast marks the last thread.
	KindExit Kind = 8
	// KindFault is a page fault of target Tid that ended at Time and took Dur
	// (blocked time included), at Addr, FlagMajor, FlagUser.
	KindFault Kind = 9
	// KindIRQ is a device interrupt handler that ended at Time and took Dur
	// on CPU while Tid was current. ID is the line; FlagHandled as returned.
	KindIRQ Kind = 10
	// KindSoftirq is a softirq that ended at Time and took Dur; ID its vector.
	// Device interrupts that nest in it have events of their own.
	KindSoftirq Kind = 11
	// KindVector is an architecture interrupt (x86 irq_vectors, arm64 IPI)
	// that ended at Time and took Dur; ID is a VectorID.
	KindVector Kind = 12
	// KindNMI is an NMI handler that ended at Time and took Dur.
	KindNMI Kind = 13
	// KindSnapshot is the state of target Tid when recording began: State,
	// Syscall and CPU; FlagOnCPU where it ran. How long it had been so is
	// not known.
	KindSnapshot Kind = 14
	// KindSample is a cpu-clock sample: Tid was current on CPU; FlagUser
	// where it was in user mode.
	KindSample Kind = 15
	// KindCounters is what CPU counted while it had target Tid, in the Dur ns
	// that end at Time, when Tid left it: Counts, of those counters that ID
	// has the bits of; the others were not measured. Away, where it is not 0,
	// is for how much of Dur the kernel did not charge Tid: as a hypervisor
	// had the CPU, or interrupts did that it keeps apart. Lag, where it is not
	// 0, is for how much of Dur, at its end, the clock by which Tid is charged
	// stood still: it was not charged for that either, and the kernel counts
	// it as a wait for the CPU. Little is 0, and so is what the kernel does not
	// know. The event comes before the KindSwitch of the same Time.
	KindCounters Kind = 16
)

// Counter is something that a CPU counts, the kernel's and interrupts' part
// included: an index of Event.Counts, and a bit of Event.ID.
type Counter uint8

const (
	CounterCycles       Counter = 0 // of the core's own clock
	CounterInstructions Counter = 1
	CounterStalled      Counter = 2 // cycles in which its back end took nothing
	Counters                    = 3 // how many there are
)

// Counted returns a count of a KindCounters event; ok is false where it was
// not measured.
func (e *Event) Counted(c Counter) (n uint64, ok bool) {
	return e.Counts[c], e.ID&(1<<c) != 0
}

// Flags qualify an Event; which apply is said at each Kind.
type Flags uint16

const (
	FlagTarget    Flags = 1 << 0  // the task belongs to a traced process
	FlagPreempt   Flags = 1 << 1  // switch: the kernel preempted the task
	FlagHardirq   Flags = 1 << 2  // waking: done by a hard interrupt
	FlagSoftirq   Flags = 1 << 3  // waking: done in softirq context
	FlagNMI       Flags = 1 << 4  // waking: done in an NMI
	FlagMajor     Flags = 1 << 5  // fault: major, its page was read from a device
	FlagUser      Flags = 1 << 6  // fault, sample: in user mode
	FlagHandled   Flags = 1 << 7  // irq: the handler said the interrupt was its own
	FlagLast      Flags = 1 << 8  // exit: the last thread of its process
	FlagOnCPU     Flags = 1 << 9  // snapshot: the task was running
	FlagOnRq      Flags = 1 << 10 // waking: the target had not left its run queue
	FlagThrottled Flags = 1 << 11 // switch, waking: the cgroup's quota was used up
	FlagKthread   Flags = 1 << 12 // task: a kernel thread
	FlagCut       Flags = 1 << 13 // span: its start was not seen; Dur is "at least"
	FlagRepeat    Flags = 1 << 14 // task: said before; see Writer.Event
	FlagUnseen    Flags = 1 << 15 // counters: the task has left CPU meanwhile, and no switch was reported
)

// Task states as sched_switch reports them (include/linux/sched.h). Zero is
// runnable: the task lost the CPU without giving it up.
const (
	StateRunning         = 0x0000
	StateInterruptible   = 0x0001
	StateUninterruptible = 0x0002
	StateStopped         = 0x0004
	StateTraced          = 0x0008
	StateDead            = 0x0080 // left the CPU for the last time
	StateZombie          = 0x0020
	StateParked          = 0x0040
	StateIdle            = 0x0402
)

// NoSyscall in Event.Syscall: the task was not in a system call.
const NoSyscall int32 = -1

// UnknownSyscall in Event.Syscall: this kernel could not tell.
const UnknownSyscall int32 = -2

// VectorID names an architecture interrupt, the same on every machine.
type VectorID uint32

const (
	VectorLocalTimer         VectorID = 1
	VectorReschedule         VectorID = 2
	VectorCallFunction       VectorID = 3
	VectorCallFunctionSingle VectorID = 4
	VectorIRQWork            VectorID = 5
	VectorIPI                VectorID = 6 // arm64; its kind has no stable number
)

// Event is one event from the kernel. Fields that a Kind does not name are
// zero (Syscall: NoSyscall).
type Event struct {
	Kind  Kind
	Flags Flags
	CPU   int32
	Time  Time // the moment, or the end of a span
	Tid   int32
	Peer  int32

	Dur        int64     // ns; span: its length; switch, counters: see their kinds
	State      uint32    // switch, snapshot
	DestCPU    int32     // waking, migrate
	Syscall    int32     // switch, snapshot: number on the recorded architecture
	Args       [3]uint64 // switch: the first arguments of Syscall
	FaultStart Time      // switch: start of the page fault the task is inside, or 0
	Owner      int32     // switch: tid in a glibc mutex's owner word, or 0
	FdType     uint8     // switch: file type behind Args[0] as a descriptor (st_mode >> 12), or 0
	Addr       uint64    // fault; switch: of the fault that FaultStart began
	ID         uint32    // irq, softirq, vector, nmi, counters
	Stack      uint64    // switch (of Tid), sample: id of a Stack, or 0

	Counts [Counters]uint64 // counters, by Counter
	Away   int64            // counters; ns
	Lag    int64            // counters; ns

	Tgid  int32  // task, fork (the child's)
	Start uint64 // task: start time, ns since boot; tells a reused tid apart; 0 = not known
	Comm  string // task: as the kernel has it, may be invalid UTF-8
}
