package lab

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// usage is what the kernel counted on a thread of the service during a request.
type usage struct {
	minor, major, voluntary, involuntary uint32

	cpu    int64 // ns; 0 = nothing was counted
	waited int64 // ns in which it was runnable without a CPU
}

func (u usage) since(v usage) usage {
	return usage{
		u.minor - v.minor, u.major - v.major, u.voluntary - v.voluntary, u.involuntary - v.involuntary,
		u.cpu - v.cpu, u.waited - v.waited,
	}
}

// usage is what was counted on t, which is the calling thread, so far.
func (t *thread) usage() usage {
	var ru unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &ru)
	return usage{
		minor: uint32(ru.Minflt), major: uint32(ru.Majflt),
		voluntary: uint32(ru.Nvcsw), involuntary: uint32(ru.Nivcsw),
		cpu: rawThreadCPU(), waited: t.runDelay(),
	}
}

// openDelay opens where the kernel says for how long the calling thread was
// runnable without a CPU. Not every kernel does.
func openDelay() int {
	fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

func (t *thread) runDelay() int64 {
	if t.delay < 0 {
		return 0
	}
	n, err := rawReadAt(t.delay, t.text[:], 0)
	if err != nil {
		return 0
	}
	fields := bytes.Fields(t.text[:n])
	if len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return ns
}
