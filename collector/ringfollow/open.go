package ringfollow

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

var (
	errNotRegular = errors.New("not a regular file")
	errNotTmpfs   = errors.New("not on a tmpfs")
	errOther      = errors.New("another file than the one that is mapped")
)

// openMapped opens the file behind a mapping of a process. The path in the
// mapping is the process's choice: what is there is opened for reading only
// once it is known to be the mapped file, regular, and of a file system that
// answers without asking anybody, as FUSE or NFS would not.
func openMapped(pid int, m mapping) (*os.File, error) {
	if err := checkTmpfs(pid, m); err != nil {
		return nil, err
	}
	// map_files leads to the mapped file itself, deleted or not, but only with
	// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.start, m.end), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil && !m.deleted && !m.memfd {
		fd, err = unix.Open(fmt.Sprintf("/proc/%d/root%s", pid, m.path), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return reopen(fd, func(id fileID) bool { return id == m.file })
}

// openPath opens the ring that the user named.
func openPath(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return reopen(fd, func(fileID) bool { return true })
}

// reopen opens for reading what fd is a handle of. Only a regular file gets
// that far, since opening a FIFO blocks and opening a device has effects.
func reopen(fd int, want func(fileID) bool) (*os.File, error) {
	id, st, err := identify(fd)
	switch {
	case err != nil:
		return nil, err
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errNotRegular
	case !want(id):
		return nil, errOther
	}
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	file, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(file), "ring"), nil
}

func identify(fd int) (fileID, *unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fileID{}, nil, os.NewSyscallError("fstat", err)
	}
	return fileID{unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)), st.Ino}, &st, nil
}

// checkTmpfs finds out without touching the file that it is on a tmpfs.
func checkTmpfs(pid int, m mapping) error {
	if dev, err := memfdDevice(); err == nil && dev.major == m.file.major && dev.minor == m.file.minor {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	kind, err := mountType(f, m.file)
	if err == nil && kind != "tmpfs" {
		err = fmt.Errorf("%w but on %q", errNotTmpfs, kind)
	}
	return err
}

// mountType returns the type of the mounted file system that file is on, ""
// where it is not mounted. See proc_pid_mountinfo(5).
func mountType(mountinfo io.Reader, file fileID) (string, error) {
	device := fmt.Sprintf("%d:%d", file.major, file.minor)
	lines := bufio.NewScanner(io.LimitReader(mountinfo, maxMaps))
	lines.Buffer(nil, maxMaps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[2] != device {
			continue
		}
		_, rest, _ := strings.Cut(lines.Text(), " - ")
		kind, _, _ := strings.Cut(rest, " ")
		return kind, nil
	}
	return "", lines.Err()
}

// memfdDevice is the device that all memfds are on.
var memfdDevice = sync.OnceValues(func() (fileID, error) {
	fd, err := unix.MemfdCreate("tailtrace", unix.MFD_CLOEXEC)
	if err != nil {
		return fileID{}, err
	}
	defer unix.Close(fd)
	id, _, err := identify(fd)
	return id, err
})
