package collector

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// lossReader turns the counters of the kernel side into counted gaps.
type lossReader struct {
	cpus   *cpuStates
	before []bpf.KernelCpuState
	began  eventfile.Time
	asOf   eventfile.Time // when before was read
}

func newLossReader(cpus *cpuStates, n int) *lossReader {
	return &lossReader{cpus: cpus, before: make([]bpf.KernelCpuState, n)}
}

// begin makes what came earlier none of the recording's losses.
func (l *lossReader) begin() error {
	l.began = now()
	return l.read(func(*eventfile.Loss) error { return nil })
}

// read passes on what was lost since it was last called.
func (l *lossReader) read(each func(*eventfile.Loss) error) error {
	asOf := now()
	for cpu := range l.before {
		state, err := l.cpus.read(cpu)
		if err != nil {
			return err
		}
		losses := lossesBetween(int32(cpu), &l.before[cpu], state, l.asOf)
		losses = append(losses, faultsMissed(int32(cpu), &l.before[cpu], state, l.began)...)
		for _, loss := range losses {
			if err := each(&loss); err != nil {
				return err
			}
		}
		l.before[cpu] = *state
	}
	l.asOf = asOf
	return nil
}

// end passes on the faults that nothing was seen after. The programs must be
// detached, and the last reading made since.
func (l *lossReader) end(totals *faultTotals, each func(*eventfile.Loss) error) error {
	for cpu := range l.before {
		for _, loss := range totals.missedLast(int32(cpu), &l.before[cpu], l.began, now()) {
			if err := each(&loss); err != nil {
				return err
			}
		}
	}
	return nil
}

// lossesBetween compares two readings of a CPU's counters, the first of which
// was made at since.
func lossesBetween(cpu int32, before, after *bpf.KernelCpuState, since eventfile.Time) []eventfile.Loss {
	var losses []eventfile.Loss
	if n := after.Lost - before.Lost; n > 0 {
		losses = append(losses, eventfile.Loss{
			Source: eventfile.LossRing,
			CPU:    cpu,
			Count:  n,
			First:  gapStart(before, after, since),
			Last:   eventfile.Time(after.GapLast),
			What:   "ring buffer full",
		})
	}
	if n := after.Untracked - before.Untracked; n > 0 {
		losses = append(losses, eventfile.Loss{
			Source: eventfile.LossMap,
			CPU:    cpu,
			Count:  n,
			First:  since,
			Last:   eventfile.Time(after.UntrackedLast),
			What:   "no room for a thread or process",
		})
	}
	for _, l := range []eventfile.Loss{
		{Count: after.StacksFailed - before.StacksFailed, What: "could not be taken"},
		{Count: after.StacksLost - before.StacksLost, What: "ring buffer full"},
		{Count: after.StacksSkipped - before.StacksSkipped, What: "left out: threads blocked too often"},
	} {
		if l.Count > 0 {
			l.Source, l.CPU = eventfile.LossStack, cpu
			losses = append(losses, l)
		}
	}
	return losses
}

// gapStart is when the first of the events was lost, or a time shortly
// before it. Only the latest run of losses has its start recorded.
func gapStart(before, after *bpf.KernelCpuState, since eventfile.Time) eventfile.Time {
	switch after.Gaps - before.Gaps {
	case 0: // the run that before had seen goes on
		return eventfile.Time(before.GapLast)
	case 1:
		if before.InGap == 0 {
			return eventfile.Time(after.GapFirst)
		}
	}
	return since
}

// recursionLosses are the runs of programs that the kernel skipped because
// one was running on that CPU already; it does not say when.
func recursionLosses(progs map[string]*ebpf.Program) ([]eventfile.Loss, error) {
	var losses []eventfile.Loss
	var errs []error
	for name, p := range progs {
		stats, err := p.Stats()
		if err != nil {
			errs = append(errs, fmt.Errorf("read statistics of %s: %w", name, err))
			continue
		}
		if stats.RecursionMisses == 0 {
			continue
		}
		losses = append(losses, eventfile.Loss{
			Source: eventfile.LossRecursion,
			CPU:    -1,
			Count:  stats.RecursionMisses,
			What:   name,
		})
	}
	return losses, errors.Join(errs...)
}
