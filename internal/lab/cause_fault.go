package lab

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// faultCause touches fresh pages, one by one.
var faultCause = cause{
	name:    "fault",
	natural: true, // a single one can be slow
	onCPU:   true,
	service: func(*service) (serviceSide, error) {
		var fresh []byte
		return serviceSide{
			inject: func(_ *thread, ns int64) (did, error) {
				var err error
				fresh, err = unix.Mmap(-1, 0, freshBytes, unix.PROT_READ|unix.PROT_WRITE,
					unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
				if err != nil {
					return did{}, fmt.Errorf("map fresh pages: %w", err)
				}
				// A huge page would take one fault for hundreds of pages.
				// Kernels that have none say EINVAL.
				if err := unix.Madvise(fresh, unix.MADV_NOHUGEPAGE); err != nil && !errors.Is(err, unix.EINVAL) {
					return did{}, fmt.Errorf("ask for small pages: %w", err)
				}
				return touch(fresh, ns), nil
			},
			after: func(*thread) error { return unix.Munmap(fresh) },
		}, nil
	},
}

const freshBytes = 256 << 20

// touch writes to one page after the other until ns nanoseconds have passed.
func touch(fresh []byte, ns int64) did {
	size := os.Getpagesize()
	end := now() + ns
	pages := 0
	for ; pages*size < len(fresh); pages++ {
		if pages%64 == 0 && now() >= end {
			break
		}
		fresh[pages*size] = 1
	}
	return did{pages, "fresh pages"}
}
