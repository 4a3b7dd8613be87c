package collector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// ErrExists says that the output file is there already.
var ErrExists = errors.New("file exists")

// output is the events file being written. Until commit it can be abandoned
// without a trace.
type output struct {
	*os.File
	path string // where it belongs
	temp bool   // it is at File.Name() until commit
	fake bool   // /dev/null
}

// createOutput creates path, readable by its owner only, which under sudo is
// the calling user. With force a regular file that is there is replaced, but
// only at commit, so that a recording that cannot start leaves it alone.
func createOutput(path string, force bool) (*output, error) {
	if path == os.DevNull {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &output{File: f, path: path, fake: true}, err
	}
	out := &output{path: path}
	create := path
	if force {
		if err := checkReplaceable(path); err != nil {
			return nil, err
		}
		create = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
		out.temp = true
	}
	f, err := os.OpenFile(create, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create %s: %w", path, ErrExists)
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, errors.Unwrap(err))
	}
	out.File = f
	if err := giveToCaller(f); err != nil {
		out.abandon()
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return out, nil
}

// checkReplaceable accepts a regular file or nothing: not a link, whose
// target is somebody's choice, nor a device or pipe.
func checkReplaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, errors.Unwrap(err))
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("replace %s: not a regular file", path)
	}
	return nil
}

// giveToCaller changes the owner to who called sudo, if anybody did.
func giveToCaller(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil {
		return nil
	}
	gid, err := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err != nil {
		return nil
	}
	return f.Chown(uid, gid)
}

// commit puts the file at its place.
func (o *output) commit() error {
	if !o.temp {
		return nil
	}
	if err := os.Rename(o.Name(), o.path); err != nil {
		return fmt.Errorf("replace %s: %w", o.path, err)
	}
	o.temp = false
	return nil
}

// abandon removes what createOutput made. Only before commit.
func (o *output) abandon() {
	o.Close()
	if !o.fake {
		os.Remove(o.Name())
	}
}
