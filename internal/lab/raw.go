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

// rawPoll waits until fd can be read.
func rawPoll(fd int) error {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	_, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, 0, 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("ppoll: %w", errno)
	}
	return nil
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
	futexWaitPrivate = 0 | 128
	futexWakePrivate = 1 | 128
)

// futexWait sleeps while *word is value, or returns at once or without reason.
func futexWait(word *uint32, value uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitPrivate, uintptr(value), 0, 0, 0)
}

// futexWake wakes one thread that waits on word.
func futexWake(word *uint32) {
	unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1, 0, 0, 0)
}
