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

// ioCause waits for the disk under Plan.Dir, by turns for what it reads and for
// what it writes (fsync), as often as it takes.
var ioCause = cause{
	name:    "io",
	blocked: true,
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

// disk is an unnamed file, read and written past the page cache: a few long
// waits rather than many short ones, and no copying.
type disk struct {
	fd    int
	block []byte // aligned as O_DIRECT demands
}

const (
	diskBytes  = 32 << 20
	blockBytes = 1 << 20
)

func openDisk(dir string) (*disk, error) {
	path := filepath.Join(dir, "lab-disk")
	defer os.Remove(path)
	// Written, as what a file has never had is read without the disk.
	if err := os.WriteFile(path, make([]byte, diskBytes), 0o600); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s past the page cache: %w", path, err)
	}
	if err := unix.Fsync(fd); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	block, err := unix.Mmap(-1, 0, blockBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map a buffer: %w", err)
	}
	return &disk{fd: fd, block: block}, nil
}

func (d *disk) sync() error {
	if err := d.transfer(unix.SYS_PWRITE64); err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_FSYNC, uintptr(d.fd), 0, 0); errno != 0 {
		return fmt.Errorf("fsync: %w", errno)
	}
	return nil
}

func (d *disk) read() error { return d.transfer(unix.SYS_PREAD64) }

// transfer moves one block, at random, by pread64 or pwrite64.
func (d *disk) transfer(call uintptr) error {
	at := rand.IntN(diskBytes/blockBytes) * blockBytes
	n, _, errno := unix.RawSyscall6(call, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(d.block))),
		blockBytes, uintptr(at), 0, 0)
	if errno != 0 {
		return fmt.Errorf("transfer a block: %w", errno)
	}
	if n != blockBytes {
		return errors.New("transfer a block: short")
	}
	return nil
}
