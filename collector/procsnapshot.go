package collector

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// procSnapshot makes from /proc what the walk over the tasks says where a
// kernel has that. It tells less: a runnable thread may have a CPU or wait for
// one, so nothing is said of it before its first event.
func (k *kernel) procSnapshot(pids []int32, each func(raw []byte) error) error {
	for _, pid := range pids {
		dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil {
			return fmt.Errorf("take snapshot: %w", err)
		}
		for _, dir := range dirs {
			e := blockedThread(dir, pid)
			if e == nil {
				continue
			}
			// One that has been in an event meanwhile may have changed while
			// it was read; the event tells more.
			seen, err := k.hasSeen(e.Task.Tid)
			if err != nil {
				return fmt.Errorf("take snapshot: %w", err)
			}
			if seen {
				continue
			}
			if err := each(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e))); err != nil {
				return err
			}
		}
	}
	return nil
}

// hasSeen reports whether a thread has been in an event.
func (k *kernel) hasSeen(tid uint32) (bool, error) {
	var state bpf.KernelThread
	err := k.maps.Maps[bpf.KernelMapThreads].Lookup(tid, &state)
	if errors.Is(err, ebpf.ErrKeyNotExist) {
		return false, nil
	}
	return err == nil, err
}

// blockedThread returns the state of a thread by its folder in /proc, or nil
// where it is not blocked. Its start is left open: /proc has it in clock ticks.
func blockedThread(dir string, pid int32) *bpf.KernelPointEvent {
	at := now()
	tid, err := strconv.ParseUint(filepath.Base(dir), 10, 32)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil // it has ended
	}
	stat, err := parseThreadStat(text)
	state, blocked := blockedStates[stat.state]
	if err != nil || !blocked {
		return nil
	}
	syscall, args := eventfile.UnknownSyscall, [3]uint64{}
	if text, err := os.ReadFile(filepath.Join(dir, "syscall")); err == nil {
		if syscall, args, blocked = parseSyscall(string(text)); !blocked {
			return nil
		}
	}
	e := &bpf.KernelPointEvent{State: state, Syscall: syscall, Args: args}
	e.Head.Time, e.Head.Kind, e.Head.Cpu = uint64(at), uint16(bpf.KernelEventKindEV_SNAPSHOT), stat.cpu
	e.Task.Tid, e.Task.Tgid, e.Task.Flags = uint32(tid), uint32(pid), uint32(eventfile.FlagTarget)
	copy(e.Task.Comm[:], stat.comm)
	return e
}
