package collector

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
)

const (
	calibrationPages  = 256
	calibrationRounds = 20
)

// measureFaultTrap returns what a page fault costs outside of the span
// between its events, ns: the trap into the kernel and back, on a virtual
// machine perhaps as much as the rest. It touches fresh pages and subtracts
// the spans from the time that took; the least of some rounds, since whatever
// interrupts one only adds. It must run before any process is a target.
func measureFaultTrap(v *ebpf.Variable) (int64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer v.Set(bpf.KernelCalibration{})
	var best int64 = math.MaxInt64
	for range calibrationRounds {
		trap, err := faultTrapRound(v)
		if err != nil {
			return -1, fmt.Errorf("measure page faults: %w", err)
		}
		best = min(best, trap)
	}
	return max(best, 0), nil
}

func faultTrapRound(v *ebpf.Variable) (int64, error) {
	pageSize := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, calibrationPages*pageSize,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, os.NewSyscallError("mmap", err)
	}
	defer unix.Munmap(mem)
	// Huge pages would take one fault for many of these. A kernel without
	// them answers EINVAL, which is as good.
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	if err := v.Set(bpf.KernelCalibration{Tid: uint32(unix.Gettid())}); err != nil {
		return 0, err
	}
	begin := now()
	for i := 0; i < len(mem); i += pageSize {
		mem[i] = 1
	}
	wall := int64(now() - begin)
	var got bpf.KernelCalibration
	if err := v.Get(&got); err != nil {
		return 0, err
	}
	// A kernel may map several pages a fault, but must have had some.
	if got.Faults == 0 {
		return 0, fmt.Errorf("%d pages touched, no fault seen", calibrationPages)
	}
	return (wall - int64(got.Spans)) / int64(got.Faults), nil
}
