package collector

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// pmuCounters are what every CPU is asked to count.
var pmuCounters = [eventfile.Counters]struct {
	name   string
	config uint64 // of perf's hardware events
	events string // the kernel map for them
}{
	eventfile.CounterCycles:       {"cycles", unix.PERF_COUNT_HW_CPU_CYCLES, bpf.KernelMapCycles},
	eventfile.CounterInstructions: {"instructions", unix.PERF_COUNT_HW_INSTRUCTIONS, bpf.KernelMapInstructions},
	eventfile.CounterStalled:      {"backend stalls", unix.PERF_COUNT_HW_STALLED_CYCLES_BACKEND, bpf.KernelMapStalled},
}

// pmu is the counters of the CPUs, as far as they have them. They count
// whatever runs there; the programs read them at switches.
type pmu struct {
	counters [eventfile.Counters]pmuCounter
}

type pmuCounter struct {
	events map[int32]perfFD // by CPU
	lacks  []int32          // CPUs that are online and do not count
	err    error            // why one of them does not
}

// errTaken: a pinned event either counts all the time or not at all.
var errTaken = errors.New("in use by somebody else")

// openPMU opens what these CPUs have. A CPU that is offline lacks nothing.
func openPMU(cpus []int32) *pmu {
	p := &pmu{}
	for i := range p.counters {
		c := &p.counters[i]
		c.events = map[int32]perfFD{}
		for _, cpu := range cpus {
			fd, err := openCounter(pmuCounters[i].config, cpu)
			switch {
			case err == nil:
				c.events[cpu] = fd
			case !errors.Is(err, unix.ENODEV):
				c.lack(cpu, err)
			}
		}
	}
	p.check()
	return p
}

func (c *pmuCounter) lack(cpu int32, err error) {
	c.lacks = append(c.lacks, cpu)
	c.err = err
}

// openCounter has a CPU count an event for all tasks, pinned so that it never
// takes turns with others: a count that is scaled up is an estimate.
func openCounter(config uint64, cpu int32) (perfFD, error) {
	attr := unix.PerfEventAttr{
		Type:        unix.PERF_TYPE_HARDWARE,
		Size:        uint32(unix.PERF_ATTR_SIZE_VER1),
		Config:      config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        unix.PerfBitPinned,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, int(cpu), -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return -1, explainPerf(os.NewSyscallError("perf_event_open", err))
	}
	return perfFD(fd), nil
}

// check closes the events that do not count, and returns the counters that
// this concerns, with their CPUs.
func (p *pmu) check() (taken []string) {
	for i := range p.counters {
		c := &p.counters[i]
		before := len(c.lacks)
		for cpu, fd := range c.events {
			if fd.counts() {
				continue
			}
			fd.Close()
			delete(c.events, cpu)
			c.lack(cpu, errTaken)
		}
		if gone := c.lacks[before:]; len(gone) > 0 {
			slices.Sort(gone)
			taken = append(taken, pmuCounters[i].name+onCPUs(gone))
		}
	}
	return taken
}

// counts reports whether the event has counted from its start to now. The end
// of file is what a pinned event without a place on its CPU reads as.
func (fd perfFD) counts() bool {
	var b [24]byte // the count, and for how long it was enabled and running, ns
	n, err := unix.Read(int(fd), b[:])
	return err == nil && n == len(b) && bytes.Equal(b[8:16], b[16:])
}

// set returns the counters that some CPU has, as bits by eventfile.Counter.
func (p *pmu) set() (set uint8) {
	for i := range p.counters {
		if len(p.counters[i].events) > 0 {
			set |= 1 << i
		}
	}
	return set
}

// connect gives the events to the programs.
func (p *pmu) connect(maps map[string]*ebpf.Map) error {
	for i := range p.counters {
		for cpu, fd := range p.counters[i].events {
			if err := maps[pmuCounters[i].events].Put(uint32(cpu), uint32(fd)); err != nil {
				return fmt.Errorf("count %s on CPU %d: %w", pmuCounters[i].name, cpu, err)
			}
		}
	}
	return nil
}

// open has a CPU that has come online count what others do. The programs read
// nothing from an event that went offline with its CPU.
func (p *pmu) open(cpu int32, maps map[string]*ebpf.Map) error {
	var errs []error
	for i := range p.counters {
		c := &p.counters[i]
		if len(c.events) == 0 {
			continue
		}
		fd, err := openCounter(pmuCounters[i].config, cpu)
		if err == nil {
			err = maps[pmuCounters[i].events].Put(uint32(cpu), uint32(fd))
			if old, ok := c.events[cpu]; ok {
				old.Close()
			}
			c.events[cpu] = fd
		}
		if err != nil && !errors.Is(err, unix.ENODEV) {
			errs = append(errs, fmt.Errorf("count %s: %w", pmuCounters[i].name, err))
		}
	}
	return errors.Join(errs...)
}

func (p *pmu) Close() error {
	var errs []error
	for i := range p.counters {
		for _, fd := range p.counters[i].events {
			errs = append(errs, fd.Close())
		}
		p.counters[i].events = nil
	}
	return errors.Join(errs...)
}

// hook says what is counted, and where something is not, that it is not
// available.
func (p *pmu) hook() eventfile.Hook {
	h := eventfile.Hook{Name: "pmu"}
	var on, off []string
	for i := range p.counters {
		c, name := &p.counters[i], pmuCounters[i].name
		switch {
		case len(c.events) == 0 && errors.Is(c.err, errTaken):
			off = append(off, name+" ("+errTaken.Error()+")")
		case len(c.events) == 0:
			off = append(off, name)
		case len(c.lacks) > 0:
			on = append(on, name+" (not"+onCPUs(c.lacks)+")")
		default:
			on = append(on, name)
		}
	}
	if len(on) == 0 {
		h.Why = explainPMU(p.counters[eventfile.CounterCycles].err)
		h.Lost = "instructions and cycles of requests: more-work counts as slow-core or unexplained"
		return h
	}
	h.How = strings.Join(on, ", ")
	if len(off) > 0 {
		h.How += "; not available: " + strings.Join(off, ", ")
	}
	return h
}

func explainPMU(err error) string {
	switch {
	case err == nil:
		return "no CPU is online"
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return "not available: no PMU, or the hypervisor hides it"
	}
	return "not available: " + err.Error()
}

func onCPUs(cpus []int32) string {
	text := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(cpus)), ", "), "[]")
	if len(cpus) == 1 {
		return " on CPU " + text
	}
	return " on CPUs " + text
}
