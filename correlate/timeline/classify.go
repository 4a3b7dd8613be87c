package timeline

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

const (
	stateStopped = eventfile.StateStopped | eventfile.StateTraced | stateFrozen
	stateFrozen  = 0x8000 // TASK_FROZEN, since v6.1 (f5d39b020809)
)

// syscallClass says what a thread that blocks in a system call waits for.
// Those that can wait for either a file or a socket are decided by the kind of
// the file descriptor, or failing that by the sleep being uninterruptible.
var syscallClass = func() map[string]part.Part {
	m := map[string]part.Part{}
	add := func(p part.Part, names ...string) {
		for _, n := range names {
			m[n] = p
		}
	}
	add(part.Lock, "futex", "futex_wait", "futex_waitv", "futex_time64")
	add(part.Sleep, "nanosleep", "clock_nanosleep")
	add(part.Net, "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
		"accept", "accept4", "connect", "recvfrom", "recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg")
	add(part.IO, "fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync", "io_getevents",
		"io_pgetevents", "open", "openat", "openat2", "creat", "stat", "lstat", "newfstatat", "statx",
		"getdents64", "unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat",
		"truncate", "ftruncate", "fallocate", "readahead", "pread64", "pwrite64", "preadv", "pwritev",
		"preadv2", "pwritev2", "copy_file_range", "flock")
	return m
}()

// either are system calls on a descriptor of any kind.
var either = map[string]bool{
	"read": true, "readv": true, "write": true, "writev": true, "splice": true, "sendfile": true,
	"io_uring_enter": true, "close": true, "ioctl": true,
}

// blockedPart classifies a thread that gave up the CPU.
func blockedPart(b *Block, inFault bool, fd FileType) part.Part {
	switch {
	case b.State&stateStopped != 0:
		return part.Stopped
	case inFault:
		return part.FaultIO
	case onlyTimeout(b):
		return part.Sleep
	case either[b.Syscall]:
		return eitherPart(b, fd)
	}
	if p, ok := syscallClass[b.Syscall]; ok {
		return p
	}
	return part.Blocked
}

func eitherPart(b *Block, fd FileType) part.Part {
	switch fd {
	case FileSocket:
		return part.Net
	case FileRegular, FileBlock, FileDir:
		return part.IO
	case FilePipe, FileChar:
		return part.Blocked
	}
	if b.State&eventfile.StateUninterruptible != 0 {
		return part.IO
	}
	return part.Blocked
}

// onlyTimeout tells a poll of nothing: a sleep by another name.
func onlyTimeout(b *Block) bool {
	switch b.Syscall {
	case "poll", "ppoll":
		return b.Args[1] == 0
	case "select", "pselect6":
		return b.Args[0] == 0
	}
	return false
}

// FileType is the kind of file behind a descriptor, as in stat's st_mode.
type FileType uint8

const (
	FileUnknown FileType = 0
	FilePipe    FileType = 1
	FileChar    FileType = 2
	FileDir     FileType = 4
	FileBlock   FileType = 6
	FileRegular FileType = 8
	FileSocket  FileType = 12
)
