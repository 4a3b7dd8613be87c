package collector

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// faultEvents are the perf events on whose programs it depends that page faults
// are seen, by kind; nil where they are off.
type faultEvents [len(bpf.KernelCpuState{}.Faults)]*perfHook

// faultTotals is how many faults the kernel has counted, by kind and CPU.
type faultTotals [len(faultEvents{})]map[int32]uint64

// stop ends the counting.
func (f *faultEvents) stop() (totals faultTotals, err error) {
	for kind, hook := range f {
		if hook == nil {
			continue
		}
		totals[kind] = make(map[int32]uint64)
		for cpu, e := range hook.events {
			if totals[kind][cpu], err = e.stop(); err != nil {
				return totals, fmt.Errorf("count page faults of CPU %d: %w", cpu, err)
			}
		}
	}
	return totals, nil
}

func (e *perfEvent) stop() (uint64, error) {
	if err := unix.IoctlSetInt(int(e.perfFD), unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
		return 0, os.NewSyscallError("disable perf event", err)
	}
	count, _, err := e.read()
	return count, err
}

const skippedWhat = "the kernel counted them, but ran no program for them: their time is running"

// faultsMissed are the faults of a CPU that were found to be missing between
// two readings of its state. began is when counting did.
func faultsMissed(cpu int32, before, after *bpf.KernelCpuState, began eventfile.Time) (losses []eventfile.Loss) {
	for kind := range after.Faults {
		b, a := &before.Faults[kind], &after.Faults[kind]
		if n := a.Missed - b.Missed; n > 0 {
			first := b.At // or later
			if a.Spells-b.Spells == 1 {
				first = a.First
			}
			losses = append(losses, skipped(cpu, n, first, eventfile.Time(a.Last), began))
		}
	}
	return losses
}

// missedLast are those that came after the last one that was seen. state must
// have been read after the counting was stopped.
func (t *faultTotals) missedLast(cpu int32, state *bpf.KernelCpuState, began, ended eventfile.Time) (losses []eventfile.Loss) {
	for kind := range t {
		f := &state.Faults[kind]
		if n := t[kind][cpu]; n > f.Counted {
			losses = append(losses, skipped(cpu, n-f.Counted, f.At, ended, began))
		}
	}
	return losses
}

func skipped(cpu int32, n, first uint64, last, began eventfile.Time) eventfile.Loss {
	return eventfile.Loss{Source: eventfile.LossSkipped, CPU: cpu, Count: n, First: max(eventfile.Time(first), began), Last: last, What: skippedWhat}
}
