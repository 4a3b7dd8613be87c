package ring

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FileName is the name of the ring of the process that sees itself as pid.
func FileName(pid int) string { return fmt.Sprintf("tailtrace-%d.ring", pid) }

// PidOfName returns the pid in a ring's file name.
func PidOfName(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "tailtrace-")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, ".ring"); !ok {
		return 0, false
	}
	pid, err := strconv.ParseInt(digits, 10, 32)
	return int(pid), err == nil && pid > 0 && strconv.FormatInt(pid, 10) == digits
}

// createFile makes the ring's file with all of its memory reserved, so that a
// full disk is an error here and not a fault in the service later.
func createFile(path string, size int64) (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0o600)
	if errors.Is(err, unix.EEXIST) {
		if err := removeStale(path); err != nil {
			return nil, err
		}
		fd, err = unix.Open(path, flags, 0o600)
	}
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	if err := reserve(fd, size); err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("reserve %d bytes for %s: %w", size, path, err)
	}
	return f, nil
}

func reserve(fd int, size int64) error {
	for range 100 { // the runtime's own signals interrupt it
		if err := unix.Fallocate(fd, 0, 0, size); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return unix.EINTR
}

// removeStale removes a file that bears this process's name. Only an earlier
// process with its pid, or itself before an exec, can have left it there; what
// does not look like that is refused.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("create %s: what is there is not a regular file", path)
	}
	if uid := info.Sys().(*syscall.Stat_t); int(uid.Uid) != os.Geteuid() {
		return fmt.Errorf("create %s: what is there belongs to user %d", path, uid.Uid)
	}
	return os.Remove(path)
}

// sweep removes the rings that dead processes of this user left in dir. One
// that is alive in another pid namespace keeps its mapping, which is what
// readers find it by.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		pid, ok := PidOfName(e.Name())
		if !ok || !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			continue
		}
		_ = removeStale(filepath.Join(dir, e.Name()))
	}
}
