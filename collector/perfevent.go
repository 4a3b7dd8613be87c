package collector

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// perfFD is an open perf event; closing it detaches its program.
type perfFD int

func (fd perfFD) Close() error { return unix.Close(int(fd)) }

// perfEvent is one of a CPU.
type perfEvent struct {
	perfFD
	cpu int32
}

// attachPerf opens one event of attr on every CPU, for all tasks, with prog
// on it. A CPU that is offline has none.
func attachPerf(prog *ebpf.Program, attr unix.PerfEventAttr, cpus []int32) (opened []perfEvent, err error) {
	defer func() {
		if err != nil {
			for _, e := range opened {
				e.Close()
			}
			opened = nil
		}
	}()
	for _, cpu := range cpus {
		fd, err := openPerf(prog, attr, allTasks, int(cpu))
		if errors.Is(err, unix.ENODEV) {
			continue
		}
		if err != nil {
			return opened, fmt.Errorf("CPU %d: %w", cpu, err)
		}
		opened = append(opened, perfEvent{fd, cpu})
	}
	return opened, nil
}

// What perf_event_open takes for a pid and a CPU.
const (
	thisThread = 0
	allTasks   = -1
	anyCPU     = -1
)

// openPerf opens one event, of a thread on any CPU or of all tasks on one.
func openPerf(prog *ebpf.Program, attr unix.PerfEventAttr, pid, cpu int) (perfFD, error) {
	attr.Bits |= unix.PerfBitDisabled
	fd, err := unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, explainPerf(os.NewSyscallError("perf_event_open", err))
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, prog.FD()); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("set perf event program", err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		unix.Close(fd)
		return -1, os.NewSyscallError("enable perf event", err)
	}
	return perfFD(fd), nil
}

// explainPerf names the setting with which some distributions' kernels ask for
// more than CAP_PERFMON.
func explainPerf(err error) error {
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	text, readErr := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if level := firstNumber(text); readErr == nil && level > 2 {
		return fmt.Errorf("%w: kernel.perf_event_paranoid is %d, with which this kernel wants CAP_SYS_ADMIN; at 2 it does not", err, level)
	}
	return err
}

// every is a software event that fires each time.
func every(config uint64) unix.PerfEventAttr {
	return unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Size:   uint32(unix.PERF_ATTR_SIZE_VER1),
		Config: config,
		Sample: 1,
	}
}

// clock samples the CPU hz times a second, except when it is idle.
func clock(hz int) unix.PerfEventAttr {
	return unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_SOFTWARE,
		Size:   uint32(unix.PERF_ATTR_SIZE_VER1),
		Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Sample: uint64(hz),
		Bits:   unix.PerfBitFreq | unix.PerfBitExcludeIdle,
	}
}

func closeAll(cs []io.Closer) error {
	var errs []error
	for _, c := range cs {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
