package collector

import (
	"fmt"
	"unsafe"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// view returns the C struct in raw, without a copy. The rings are of this
// machine, so byte order is no question; size is, since both come from
// different sides.
func view[T any](raw []byte) (*T, error) {
	var zero T
	if len(raw) < int(unsafe.Sizeof(zero)) || uintptr(unsafe.Pointer(unsafe.SliceData(raw)))%unsafe.Alignof(zero) != 0 {
		return nil, fmt.Errorf("kernel event of %d bytes, want %d", len(raw), unsafe.Sizeof(zero))
	}
	return (*T)(unsafe.Pointer(unsafe.SliceData(raw))), nil
}

// A decoded event and the identities of the tasks that it names.
type decoded struct {
	event eventfile.Event
	tasks [2]*bpf.KernelTaskId // nil where there is none
}

// decode reads one record of a ring or of the snapshot. The result points
// into raw.
func decode(raw []byte) (decoded, error) {
	h, err := view[bpf.KernelEventHead](raw)
	if err != nil {
		return decoded{}, err
	}
	d := decoded{event: eventfile.Event{
		Kind:    eventfile.Kind(h.Kind),
		Flags:   eventfile.Flags(h.Flags),
		CPU:     int32(h.Cpu),
		Time:    eventfile.Time(h.Time),
		Syscall: eventfile.NoSyscall,
	}}
	switch d.event.Kind {
	case eventfile.KindSwitch:
		err = d.fillSwitch(raw)
	case eventfile.KindWaking, eventfile.KindWakeupNew, eventfile.KindMigrate:
		err = d.fillWake(raw)
	case eventfile.KindFork, eventfile.KindExec, eventfile.KindExit:
		err = d.fillLife(raw)
	case eventfile.KindFault, eventfile.KindIRQ, eventfile.KindSoftirq, eventfile.KindVector, eventfile.KindNMI:
		err = d.fillSpan(raw)
	case eventfile.KindSnapshot, eventfile.KindSample:
		err = d.fillPoint(raw)
	case eventfile.KindCounters:
		err = d.fillCounters(raw)
	default:
		err = fmt.Errorf("kernel event of unknown kind %d", d.event.Kind)
	}
	return d, err
}

func (d *decoded) fillSwitch(raw []byte) error {
	e, err := view[bpf.KernelSwitchEvent](raw)
	if err != nil {
		return err
	}
	d.tasks = [2]*bpf.KernelTaskId{&e.Prev, &e.Next}
	d.event.Tid, d.event.Peer = int32(e.Prev.Tid), int32(e.Next.Tid)
	d.event.State = reportedState(e.State)
	d.event.Syscall, d.event.Args = e.Syscall, e.Args
	d.event.FaultStart, d.event.Addr = eventfile.Time(e.FaultStart), e.FaultAddr
	d.event.Dur = int64(e.Foreign)
	d.event.Owner, d.event.FdType = int32(e.Owner), uint8(e.FdType)
	d.event.Stack = e.Stack
	return nil
}

func (d *decoded) fillWake(raw []byte) error {
	e, err := view[bpf.KernelWakeEvent](raw)
	if err != nil {
		return err
	}
	d.event.Tid, d.event.DestCPU = int32(e.Task.Tid), int32(e.DestCpu)
	d.tasks[0] = &e.Task
	if d.event.Kind != eventfile.KindMigrate {
		d.event.Peer = int32(e.Waker.Tid)
		d.tasks[1] = &e.Waker
	}
	return nil
}

func (d *decoded) fillLife(raw []byte) error {
	e, err := view[bpf.KernelLifeEvent](raw)
	if err != nil {
		return err
	}
	d.event.Tid = int32(e.Task.Tid)
	d.tasks[0] = &e.Task
	switch d.event.Kind {
	case eventfile.KindFork:
		d.event.Peer, d.event.Tgid = int32(e.Peer.Tid), int32(e.Peer.Tgid)
		d.event.Flags |= eventfile.Flags(e.Peer.Flags) & eventfile.FlagTarget
		d.tasks[1] = &e.Peer
	case eventfile.KindExec:
		d.event.Peer = int32(e.Peer.Tid)
	}
	return nil
}

func (d *decoded) fillSpan(raw []byte) error {
	e, err := view[bpf.KernelSpanEvent](raw)
	if err != nil {
		return err
	}
	d.tasks[0] = &e.Task
	d.event.Tid = int32(e.Task.Tid)
	d.event.Dur = int64(d.event.Time) - int64(e.Start)
	d.event.Addr, d.event.ID = e.Addr, e.Id
	return nil
}

func (d *decoded) fillPoint(raw []byte) error {
	e, err := view[bpf.KernelPointEvent](raw)
	if err != nil {
		return err
	}
	d.tasks[0] = &e.Task
	d.event.Tid = int32(e.Task.Tid)
	if d.event.Kind == eventfile.KindSample {
		d.event.Stack = e.Stack
	}
	if d.event.Kind == eventfile.KindSnapshot {
		d.event.State, d.event.Syscall = reportedState(e.State), e.Syscall
		d.event.Args = e.Args
	}
	return nil
}

// fillCounters names no task: the switch to it did.
func (d *decoded) fillCounters(raw []byte) error {
	e, err := view[bpf.KernelCountersEvent](raw)
	if err != nil {
		return err
	}
	d.event.Tid = int32(e.Tid)
	d.event.Dur = int64(d.event.Time) - int64(e.Since)
	d.event.ID, d.event.Counts, d.event.Away, d.event.Lag = e.Counted, e.Counts, int64(e.Away), int64(e.Lag)
	return nil
}

// Bits of task_struct's state beyond those that are reported.
const (
	rawWaking     = 0x0200
	rawNoLoad     = 0x0400
	rawRTLockWait = 0x1000
	rawFrozen     = 0x8000
	rawReported   = 0x007f
)

// reportedState reduces a state of task_struct to what the file has.
func reportedState(raw uint32) uint32 {
	s := raw & rawReported
	switch {
	case raw&eventfile.StateDead != 0:
		return eventfile.StateDead
	case s == eventfile.StateUninterruptible && raw&rawNoLoad != 0:
		return eventfile.StateIdle
	case s != 0:
		return s & -s // the lowest: what it waits for before what it is
	case raw&(rawRTLockWait|rawFrozen) != 0:
		return eventfile.StateUninterruptible
	case raw&rawWaking != 0: // old kernels read it after a waker changed it
		return eventfile.StateInterruptible
	}
	return eventfile.StateRunning
}
