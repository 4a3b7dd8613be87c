package eventfile

// Header opens an events file. It is written once, before the first event.
type Header struct {
	Tool           string // "tailtrace 0.1.0"
	Host           string
	Kernel         string  // uname release
	Arch           string  // GOARCH of the recorder
	CPUs           []int32 // online when it began
	Started        Time
	RealtimeOffset int64 // CLOCK_REALTIME - CLOCK_MONOTONIC at Started, ns
	Targets        []Target
	Hooks          []Hook
	Options        []string // the command line, as given
	// FaultTrap is the measured cost of a page fault outside of what its
	// events enclose, ns a fault; -1 where it was not measured.
	FaultTrap int64
	SampleHz  int32
}

// Target is a process that the user asked to trace.
type Target struct {
	Pid     int32
	Comm    string
	Cmdline string
	Cgroup  string
}

// Hook is one source of events: what was wanted, what it got, and what is not
// in the file where it got nothing.
type Hook struct {
	Name string // "sched_switch"
	How  string // "tp_btf"; "" where it is off
	Why  string // why it is off
	Lost string // what cannot be said without it
}

// End closes a file that was finished in order.
type End struct {
	Time    Time
	Reason  string // "signal", "duration", "target exited", ...
	Events  uint64
	Windows uint64
	Lost    uint64 // all sources
	Bytes   uint64 // of the file before the end block
}
