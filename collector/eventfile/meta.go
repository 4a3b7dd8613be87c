package eventfile

// A Window is one slot of a service's shared-memory ring, checked and
// translated: a request, or a runtime span such as a garbage collection.
type Window struct {
	Span   bool   // a runtime span instead of a request
	Flags  uint8  // WindowError and the like
	Kind   string // the endpoint, or the span's name
	Pid    int32  // process, in the recorder's pid namespace
	ID     ID
	Begin  Time
	End    Time
	CPU    int64 // CPU time inside, ns, as the service measured it; 0 = not measured
	Tid    int32 // thread at begin; 0 in a span: the whole process
	EndTid int32
	Points []Point
}

// Window flags, as in the ring.
const (
	WindowPointsCut uint8 = 1
	WindowError     uint8 = 2
	WindowTimeout   uint8 = 4
	WindowWarmup    uint8 = 8
	WindowRawID     uint8 = 16
)

// ID is a request id: a number in the first eight bytes (little-endian) and
// zeros, or 16 raw bytes. Raw tells the two apart.
type ID struct {
	Bytes [16]byte
	Raw   bool
}

// PointType says what a Point marks.
type PointType uint8

const (
	PointMark    PointType = 1 // the step Name ends here
	PointSuspend PointType = 2 // the request leaves the thread
	PointResume  PointType = 3 // it is back on the thread
	PointThread  PointType = 4 // it goes on in thread Tid
)

// Point is a moment inside a Window, Offset ns after its begin.
type Point struct {
	Type   PointType
	Offset int64
	Name   string
	Tid    int32 // PointThread: the new thread
}

// LossSource says where something was lost.
type LossSource uint8

const (
	LossRing      LossSource = 1 // a kernel ring buffer was full
	LossRecursion LossSource = 2 // the kernel skipped a nested program; CPU is -1, no time
	LossWindow    LossSource = 3 // request-ring slots overrun before they were read
	LossLate      LossSource = 4 // events that came after the merge had passed their time
	LossMap       LossSource = 5 // no room for a thread's state in a kernel map
	LossFile      LossSource = 6 // a damaged part of the file; said by Reader, never written
	LossStack     LossSource = 7 // stacks that could not be taken or kept; no time, no event is missing
	LossSkipped   LossSource = 8 // page faults for which the kernel ran no program; no other event is missing
)

// Loss is a counted gap. First and Last bound it; both are zero where the
// source has no time.
type Loss struct {
	Source LossSource
	CPU    int32 // -1: not one CPU's
	Count  uint64
	First  Time
	Last   Time
	What   string // the program or ring, for a person
}

// BoxSample is the state of the whole machine over the time since the sample
// before it. Absent figures are -1, never 0.
type BoxSample struct {
	Time           Time
	RealtimeOffset int64       // CLOCK_REALTIME - CLOCK_MONOTONIC, ns
	CPUs           []CPUSample // those online
	PSI            [3]int64    // some-stall of cpu, memory, io: ns since the sample before
	Interrupts     int64       // of all CPUs since the sample before
	Switches       int64       // context switches, likewise
	MemAvailable   int64       // bytes
	SwapIn         int64       // pages since the sample before
	Throttled      int64       // ns the target's cgroup was throttled since the sample before
	AgentCPU       int64       // CPU time of the recorder itself, ns, likewise
}

// CPUSample is one CPU's share of a BoxSample, ns since the sample before.
type CPUSample struct {
	CPU     int32
	Busy    int64 // neither idle nor waiting for io; steal not included
	Steal   int64
	IRQ     int64 // hard and soft
	FreqKHz int64
}

// Proc names a process beyond its comm. It is read from /proc after the fact,
// so a short-lived process may have left nothing but Comm.
type Proc struct {
	Pid     int32
	Comm    string
	Cmdline string // arguments joined by spaces; "" where it could not be read
	Cgroup  string
	Self    bool // the recorder
	Target  bool
}

// Note is something a reader of the file must know, in words.
type Note struct {
	Time Time
	Text string
}

// Name maps a number to the name that this machine has for it: an interrupt
// line, a softirq, a system call.
type Name struct {
	Class string // "irq", "softirq", "syscall"
	ID    uint32
	Name  string
}

// Mapping is a part of a traced process's address space, as /proc/PID/maps
// had it at Time. It holds until a later one that overlaps it, and for faults
// from before Time that no earlier one covers: those are why it was read.
type Mapping struct {
	Pid   int32
	Time  Time
	Start uint64
	End   uint64
	Perms string // "r-xp"
	Path  string // of a file, "[heap]" and the like, MappingGone; "" for anonymous memory
}

// MappingGone in Mapping.Path: there were faults between Start and End since
// the read before, and nothing is mapped there any more.
const MappingGone = "[gone]"

// Fd says what a descriptor of a traced process stood for at Time, which is a
// little after a call on it blocked.
type Fd struct {
	Pid  int32
	Fd   int32
	Time Time
	Name string // a path, "tcp 127.0.0.1:5432", "pipe:[71]"
}
