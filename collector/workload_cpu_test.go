package collector

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// stayBusy burns one CPU until told to stop.
func stayBusy(say func(...any), wait func()) {
	pin(0)
	var stop atomic.Bool
	finish := onThread(func(tid int32) {
		pin(0)
		say(tid)
		for !stop.Load() {
		}
	})
	wait()
	stop.Store(true)
	finish()
}

// hogCPU takes CPU 0 with real-time priority again and again, for so long after
// so long a rest. On a busy machine it meets many another task there than the
// one that is traced.
func hogCPU(times int, rest, work time.Duration) func(say func(...any), wait func()) {
	return func(say func(...any), wait func()) {
		pin(0)
		unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("hog\x00")[0])), 0, 0, 0)
		if errno := realTime(); errno != 0 {
			say("refused", errno)
			wait()
			return
		}
		for range times {
			nanosleep(rest)
			spin(work)
		}
		say("done")
		wait()
	}
}

// realTime gives the calling thread real-time priority.
func realTime() unix.Errno {
	param := struct{ priority int32 }{10}
	const fifo = 1
	_, _, errno := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, fifo, uintptr(unsafe.Pointer(&param)))
	return errno
}

// stayInKernel makes long system calls on CPU 0, in which a kernel that is not
// preemptible switches to nobody.
func stayInKernel(say func(...any), wait func()) {
	pin(0)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		panic(err)
	}
	list := make([]unix.PollFd, min(limit.Max, 200_000)) // all of them standard input
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		panic(err)
	}
	say("ready")
	for {
		if _, err := unix.Poll(list, 0); err != nil && err != unix.EINTR {
			panic(err)
		}
	}
}

// useMaps calls the kernel for a BPF map on CPU 0 without a rest.
func useMaps(say func(...any), wait func()) {
	pin(0)
	if err := rlimit.RemoveMemlock(); err != nil {
		panic(err)
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 1 << 16, MaxEntries: 1})
	if err != nil {
		panic(err)
	}
	say("ready")
	for value := make([]byte, 1<<16); ; {
		if err := m.Lookup(uint32(0), &value); err != nil {
			panic(err)
		}
	}
}
