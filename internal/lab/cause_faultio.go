package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// faultIOCause touches mapped files that are no longer in memory.
var faultIOCause = cause{
	name:    "fault-io",
	blocked: true,
	missing: needDisk,
	service: func(s *service) (serviceSide, error) {
		c, err := openColdFiles(s.setup.Plan.Dir)
		if err != nil {
			return serviceSide{}, err
		}
		return serviceSide{
			inject: c.touch,
			after:  func(*thread) error { return c.evict() },
		}, nil
	},
}

const (
	coldFileCount = 64
	// coldFileBytes are read from the disk at once, whatever a device reads
	// ahead: a few long waits rather than many short ones.
	coldFileBytes = 512 << 10
)

// coldFiles are unnamed files on a disk, mapped, whose pages were evicted.
type coldFiles struct {
	files []coldFile
	next  int
	sum   byte
}

type coldFile struct {
	fd    int
	pages []byte
}

func openColdFiles(dir string) (*coldFiles, error) {
	c := &coldFiles{}
	path := filepath.Join(dir, "lab-cold")
	for range coldFileCount {
		f, err := newColdFile(path)
		if err != nil {
			return nil, fmt.Errorf("make a file that is not in memory: %w", err)
		}
		c.files = append(c.files, f)
	}
	return c, c.evict()
}

func newColdFile(path string) (f coldFile, err error) {
	defer os.Remove(path)
	// Written, as a file of holes would be read without the disk.
	if err := os.WriteFile(path, make([]byte, coldFileBytes), 0o600); err != nil {
		return f, err
	}
	if f.fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return f, err
	}
	if err := unix.Fsync(f.fd); err != nil { // what is dirty cannot be evicted
		return f, err
	}
	if f.pages, err = unix.Mmap(f.fd, 0, coldFileBytes, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return f, err
	}
	// Always read ahead, however little use that was.
	return f, unix.Madvise(f.pages, unix.MADV_SEQUENTIAL)
}

// touch reads a byte of one file after the other until ns nanoseconds have
// passed.
func (c *coldFiles) touch(t *thread, ns int64) (did, error) {
	before := t.usage().major
	end := now() + ns
	for now() < end {
		c.sum += c.files[c.next%coldFileCount].pages[0]
		c.next++
	}
	n := t.usage().major - before
	if n == 0 {
		return did{}, errors.New("read evicted pages: they were still in memory")
	}
	return did{int(n), "reads from disk"}, nil
}

// evict removes the pages from the mappings, without which the page cache
// would keep them, and from the page cache.
func (c *coldFiles) evict() error {
	for _, f := range c.files {
		if err := unix.Madvise(f.pages, unix.MADV_DONTNEED); err != nil {
			return fmt.Errorf("unmap pages: %w", err)
		}
		if err := unix.Fadvise(f.fd, 0, coldFileBytes, unix.FADV_DONTNEED); err != nil {
			return fmt.Errorf("evict pages: %w", err)
		}
	}
	return nil
}
