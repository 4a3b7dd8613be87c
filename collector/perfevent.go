package collector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// perfFD is an open perf event; closing it detaches its program.
type perfFD int

func (fd perfFD) Close() error { return unix.Close(int(fd)) }

// perfHook is a program on an event of every CPU, for all tasks.
type perfHook struct {
	prog   *ebpf.Program
	attr   unix.PerfEventAttr
	events map[int32]perfEvent // by CPU
}

// perfEvent is one of a CPU.
type perfEvent struct {
	perfFD
	since eventfile.Time
}

func attachPerf(prog *ebpf.Program, attr unix.PerfEventAttr, cpus []int32) (*perfHook, error) {
	attr.Read_format = unix.PERF_FORMAT_TOTAL_TIME_ENABLED
	h := &perfHook{prog: prog, attr: attr, events: make(map[int32]perfEvent)}
	for _, cpu := range cpus {
		if err := h.open(cpu); err != nil {
			h.Close()
			return nil, err
		}
	}
	return h, nil
}

// open gives a CPU its event, in place of one that has ended: with its CPU an
// event goes offline for good. A CPU that is offline has none.
func (h *perfHook) open(cpu int32) error {
	fd, err := openPerf(h.prog, h.attr, allTasks, int(cpu))
	if errors.Is(err, unix.ENODEV) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("CPU %d: %w", cpu, err)
	}
	if old, ok := h.events[cpu]; ok {
		old.Close()
	}
	h.events[cpu] = perfEvent{fd, now()}
	return nil
}

// ended returns when the event of a CPU ended, and whether it has; 0 is before
// it began.
func (h *perfHook) ended(cpu int32) (at eventfile.Time, ended bool) {
	e, ok := h.events[cpu]
	if !ok {
		return 0, true
	}
	_, before, _ := e.read()
	if _, enabled, _ := e.read(); enabled > before { // its clock is still running
		return 0, false
	}
	return e.since.Add(before), true
}

// read returns how often the event has happened, and for how long it has been
// on, ns. One that ended may read as nothing.
func (e *perfEvent) read() (count uint64, enabled int64, err error) {
	var b [16]byte
	if _, err := unix.Read(int(e.perfFD), b[:]); err != nil {
		return 0, 0, os.NewSyscallError("read perf event", err)
	}
	return binary.NativeEndian.Uint64(b[:]), int64(binary.NativeEndian.Uint64(b[8:])), nil
}

func (h *perfHook) Close() error {
	var errs []error
	for _, e := range h.events {
		errs = append(errs, e.Close())
	}
	h.events = nil
	return errors.Join(errs...)
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
