package vmtest

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// initramfs writes a cpio archive in the format that the kernel unpacks
// ("newc", Documentation/driver-api/early-userspace/buffer-format.rst). It is
// not compressed: that would cost an emulated processor seconds.
type initramfs struct {
	w     *bufio.Writer
	inode int
	made  map[string]bool
	err   error
}

func newInitramfs(w io.Writer) *initramfs {
	return &initramfs{w: bufio.NewWriterSize(w, 1<<20), made: map[string]bool{"/": true}}
}

const (
	modeDir  = 0o040000
	modeFile = 0o100000
	modeLink = 0o120000
)

func (a *initramfs) entry(name string, mode uint32, size int64, content io.Reader) {
	if a.err != nil {
		return
	}
	a.inode++
	name = strings.TrimPrefix(name, "/")
	// magic, inode, mode, uid, gid, links, mtime, size, device and special
	// device (two each), length of the name with its NUL, no checksum
	fmt.Fprintf(a.w, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.inode, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, len(name)+1, 0, name)
	a.pad(110 + len(name) + 1)
	n, err := io.Copy(a.w, content)
	if err == nil && n != size {
		err = fmt.Errorf("pack /%s: %d bytes, expected %d", name, n, size)
	}
	a.err = err
	a.pad(int(size % 4))
}

// pad fills up to a multiple of four.
func (a *initramfs) pad(length int) { a.w.Write(make([]byte, -length&3)) }

// dir makes a folder and those that it is in.
func (a *initramfs) dir(name string) {
	if name = path.Clean(name); a.made[name] {
		return
	}
	a.dir(path.Dir(name))
	a.made[name] = true
	a.entry(name, modeDir|0o755, 0, strings.NewReader(""))
}

func (a *initramfs) data(name, content string) {
	a.dir(path.Dir(name))
	a.entry(name, modeFile|0o644, int64(len(content)), strings.NewReader(content))
}

func (a *initramfs) link(name, target string) {
	a.dir(path.Dir(name))
	a.entry(name, modeLink|0o777, int64(len(target)), strings.NewReader(target))
}

// file packs the file at from, which is on this machine.
func (a *initramfs) file(name, from string) {
	a.dir(path.Dir(name))
	f, err := os.Open(from)
	if err != nil {
		a.fail(err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		a.fail(err)
		return
	}
	a.entry(name, modeFile|uint32(info.Mode().Perm()), info.Size(), f)
}

// add packs a file or folder of this machine.
func (a *initramfs) add(name, from string) {
	info, err := os.Stat(from)
	switch {
	case err != nil:
		a.fail(err)
	case info.IsDir():
		a.tree(name, from)
	default:
		a.file(name, from)
	}
}

// tree packs a folder of this machine with all that is in it.
func (a *initramfs) tree(name, from string) {
	a.dir(name)
	a.fail(fs.WalkDir(os.DirFS(from), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			a.dir(path.Join(name, p))
		case d.Type().IsRegular():
			a.file(path.Join(name, p), path.Join(from, p))
		}
		return a.err
	}))
}

func (a *initramfs) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *initramfs) close() error {
	a.entry("TRAILER!!!", 0, 0, strings.NewReader(""))
	a.fail(a.w.Flush())
	return a.err
}
