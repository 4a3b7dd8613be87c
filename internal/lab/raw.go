package lab

import (
	"fmt"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls below bypass the Go scheduler: it must neither hand the
// service's work to another thread while a call blocks, nor be waited for
// afterwards. The price is that a blocked thread keeps its P, so a process of
// the lab runs as many goroutines as it has Ps (see service.threads).

// rawRead reads exactly len(b) bytes; io.EOF where the other side is gone.
func rawRead(fd int, b []byte) error {
	for len(b) > 0 {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return fmt.Errorf("read: %w", errno)
		case n == 0:
			return io.EOF
		default:
			b = b[n:]
		}
	}
	return nil
}

// rawReadAt reads what there is at a place in a file, up to len(b) bytes.
func rawReadAt(fd int, b []byte, at int64) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(at), 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("read: %w", errno)
	}
	return int(n), nil
}

// rawWrite writes all of b, which is small enough to go out in one piece.
func rawWrite(fd int, b []byte) error {
	_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return fmt.Errorf("write: %w", errno)
	}
	return nil
}

// rawRecv reads one message that is no longer than b from a socket.
func rawRecv(fd int, b []byte) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("recvfrom: %w", errno)
	}
	return nil
}

// rawPoll waits until fd can be read, for ns nanoseconds at most (negative:
// for as long as it takes).
func rawPoll(fd int, ns int64) (ready bool, err error) {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	var timeout *unix.Timespec
	if ns >= 0 {
		ts := unix.NsecToTimespec(ns)
		timeout = &ts
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	if errno != 0 && errno != unix.EINTR {
		return false, fmt.Errorf("ppoll: %w", errno)
	}
	return errno == 0 && n > 0, nil
}

// rawSleep sleeps ns nanoseconds, however often it is interrupted.
func rawSleep(ns int64) {
	until := unix.NsecToTimespec(now() + ns)
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
			uintptr(unsafe.Pointer(&until)), 0, 0, 0)
		if errno != unix.EINTR {
			return
		}
	}
}

// sendAtOnce keeps a connection from holding an answer back until the one
// before it is acknowledged.
func sendAtOnce(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return fmt.Errorf("set TCP_NODELAY: %w", err)
	}
	return nil
}

const (
	futexWaitPrivate   = 0 | 128
	futexWakePrivate   = 1 | 128
	futexBitsetPrivate = 9 | 128
	futexAny           = 1<<32 - 1
)

// futexWait sleeps while *word is value, or returns at once or without reason.
func futexWait(word *uint32, value uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(value), 0, 0, 0)
}

// futexWaitBitset is futexWait as condition variables call it.
func futexWaitBitset(word *uint32, value uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexBitsetPrivate, uintptr(value), 0, 0, futexAny)
}

// futexWake wakes one thread that waits on word.
func futexWake(word *uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1, 0, 0, 0)
}

// rawSetScheduler sets how a thread is scheduled.
func rawSetScheduler(tid int, attr *unix.SchedAttr) error {
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETATTR, uintptr(tid), uintptr(unsafe.Pointer(attr)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// rawThreadCPU is the CPU time of the calling thread, ns.
func rawThreadCPU() int64 {
	var ts unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}
