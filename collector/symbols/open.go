package symbols

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

var errNotRegular = errors.New("not a regular file")

// openMapped opens the file behind a mapping of the process at dir.
// map_files leads to the file itself, deleted or not, but only with
// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
func openMapped(dir string, m *mapping) (*os.File, error) {
	f, err := openRegular(fmt.Sprintf("%s/map_files/%x-%x", dir, m.start, m.end), 0)
	if err != nil && !strings.HasSuffix(m.path, deletedMark) {
		f, err = openRegular(dir+"/root"+m.path, unix.O_NOFOLLOW)
	}
	return f, err
}

// openRegular opens path for reading once it is known to be a regular file:
// to open a FIFO blocks, and to open a device has effects.
func openRegular(path string, flags int) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errNotRegular
	}
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
}
