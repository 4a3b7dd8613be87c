package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ioCause waits for the disk under Plan.Dir, by turns for what it wrote
// (fsync) and for what it reads past the page cache (O_DIRECT), as often as
// it takes.
var ioCause = cause{
	name:    "io",
	missing: needDisk,
	service: func(s *service) (serviceSide, error) {
		d, err := openDisk(s.setup.Plan.Dir)
		if err != nil {
			return serviceSide{}, err
		}
		turn := 0
		return serviceSide{inject: func(_ *thread, ns int64) (did, error) {
			if turn++; turn%2 == 0 {
				return repeat(ns, "fsyncs", d.sync)
			}
			return repeat(ns, "direct reads", d.read)
		}}, nil
	},
}

// needDisk asks for a disk behind Plan.Dir.
func needDisk(p *Plan) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(p.Dir, &fs); err != nil {
		return fmt.Errorf("look at %s: %w", p.Dir, err)
	}
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("%s is in memory, not on a disk", p.Dir)
	}
	return nil
}

// repeat calls f until ns nanoseconds have passed.
func repeat(ns int64, what string, f func() error) (did, error) {
	end := now() + ns
	for n := 0; ; n++ {
		if now() >= end {
			return did{n, what}, nil
		}
		if err := f(); err != nil {
			return did{}, err
		}
	}
}

// disk is an unnamed file, open twice.
type disk struct {
	buffered, direct int
	block            []byte // aligned as O_DIRECT demands
}

const (
	diskBytes = 32 << 20
	// A few long waits rather than many short ones, and little copying.
	readBytes  = 1 << 20
	writeBytes = 64 << 10
)

func openDisk(dir string) (*disk, error) {
	d := &disk{}
	path := filepath.Join(dir, "lab-disk")
	defer os.Remove(path)
	// Written, as what a file has never had is read without the disk.
	if err := os.WriteFile(path, make([]byte, diskBytes), 0o600); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	var err error
	if d.buffered, err = unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := unix.Fsync(d.buffered); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	if d.direct, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s past the page cache: %w", path, err)
	}
	d.block, err = unix.Mmap(-1, 0, readBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map a buffer: %w", err)
	}
	return d, nil
}

func (d *disk) sync() error {
	if err := transfer(unix.SYS_PWRITE64, d.buffered, d.block[:writeBytes]); err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_FSYNC, uintptr(d.buffered), 0, 0); errno != 0 {
		return fmt.Errorf("fsync: %w", errno)
	}
	return nil
}

func (d *disk) read() error { return transfer(unix.SYS_PREAD64, d.direct, d.block) }

// transfer moves one block, at random, by pread64 or pwrite64.
func transfer(call uintptr, fd int, block []byte) error {
	at := rand.IntN(diskBytes/len(block)) * len(block)
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(block))),
		uintptr(len(block)), uintptr(at), 0, 0)
	if errno != 0 {
		return fmt.Errorf("transfer a block: %w", errno)
	}
	if int(n) != len(block) {
		return errors.New("transfer a block: short")
	}
	return nil
}
