package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// faultIOCause touches pages of a mapped file that are no longer in memory.
var faultIOCause = cause{
	name:    "fault-io",
	missing: needDisk,
	service: func(s *service) (serviceSide, error) {
		c, err := openColdFile(s.setup.Plan.Dir)
		if err != nil {
			return serviceSide{}, err
		}
		return serviceSide{
			inject: func(_ *thread, ns int64) (did, error) { return c.touch(ns) },
			after:  c.evict,
		}, nil
	},
}

const coldFileBytes = 64 << 20

// coldFile is an unnamed file on a disk whose pages are mapped and evicted.
type coldFile struct {
	fd     int
	pages  []byte
	sorted []int // offsets of pages, in random order
	sum    byte
}

func openColdFile(dir string) (*coldFile, error) {
	path := filepath.Join(dir, "lab-cold")
	defer os.Remove(path)
	// Written, as a file of holes would be read without the disk.
	if err := os.WriteFile(path, make([]byte, coldFileBytes), 0o600); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := unix.Fsync(fd); err != nil { // what is dirty cannot be evicted
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	c := &coldFile{fd: fd, sorted: rand.Perm(coldFileBytes / os.Getpagesize())}
	if c.pages, err = unix.Mmap(fd, 0, coldFileBytes, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	// No read-around: each page is a read of its own.
	if err := unix.Madvise(c.pages, unix.MADV_RANDOM); err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return c, c.evict()
}

// touch reads one page after the other until ns nanoseconds have passed.
func (c *coldFile) touch(ns int64) (did, error) {
	before := threadUsage().major
	end := now() + ns
	for i := 0; i < len(c.sorted) && now() < end; i++ {
		c.sum += c.pages[c.sorted[i]*os.Getpagesize()]
	}
	n := threadUsage().major - before
	if n == 0 {
		return did{}, errors.New("read evicted pages: they were still in memory")
	}
	return did{int(n), "pages from disk"}, nil
}

// evict removes the pages from the mapping, without which the page cache would
// keep them, and from the page cache.
func (c *coldFile) evict() error {
	if err := unix.Madvise(c.pages, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("unmap pages: %w", err)
	}
	if err := unix.Fadvise(c.fd, 0, coldFileBytes, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("evict pages: %w", err)
	}
	return nil
}
