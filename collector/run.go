package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Run records until ctx is done, the duration is over, or the last target has
// ended, and returns a summary of what is in the file. It also returns one
// beside an error that came up while recording: what was written before it
// stays readable.
func Run(ctx context.Context, c Config) (*Summary, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	targets, err := resolver{"/proc"}.targets(c.Pids)
	if err != nil {
		return nil, err
	}
	if err := checkPrivileges(); err != nil {
		return nil, err
	}
	out, err := createOutput(c.Out, c.Force)
	if err != nil {
		return nil, err
	}
	s, err := openSession(&c, targets, out)
	if err != nil {
		out.abandon()
		return nil, err
	}
	sum, err := s.run(ctx)
	return sum, errors.Join(err, out.Close())
}

// session is one recording, from the attached programs to the end block.
type session struct {
	cfg     *Config
	targets []eventfile.Target
	out     *output
	k       *kernel
	cpus    *cpuWatch
	rec     *recorder
	box     *boxReader
	windows windowSource
	began   eventfile.Time
	agent   int64 // CPU time of this process when it began
	err     error // the first of a callback that cannot return one
}

// openSession attaches everything and writes the header.
func openSession(c *Config, targets []eventfile.Target, out *output) (_ *session, err error) {
	s := &session{cfg: c, targets: targets, out: out}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.k, err = openKernel(c); err != nil {
		return nil, err
	}
	if s.cpus, err = openCPUWatch(onlinePath, s.k.cpus); err != nil {
		return nil, err
	}
	trap := s.k.faultTrap(s.log)
	if s.box, err = openBox(s.k.cpus, targets[0].Pid); err != nil {
		return nil, err
	}
	s.began = now()
	s.agent = agentCPU()
	header := makeHeader(c, s.k, targets, s.began, trap)
	w, err := eventfile.NewWriter(out, header)
	if err != nil {
		return nil, err
	}
	if err := out.commit(); err != nil {
		return nil, err
	}
	s.rec = newRecorder(c, s.k, w)
	s.windows = openWindows(c.Ring, s.rec.targets.pids, s.began, s.log)
	return s, nil
}

// openKernel attaches the kernel side for c.
func openKernel(c *Config) (*kernel, error) {
	if err := checkKernel(); err != nil {
		return nil, err
	}
	if err := rlimit.RemoveMemlock(); errors.Is(err, unix.EPERM) {
		return nil, &PrivilegeError{Missing: []string{"CAP_SYS_RESOURCE"}}
	} else if err != nil {
		return nil, fmt.Errorf("lift the limit on locked memory: %w", err)
	}
	possible, err := possibleCPUs()
	if err != nil {
		return nil, err
	}
	online, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	return attachKernel(kernelConfig{
		sizes: sizes{
			cpus:      possible,
			ringBytes: ringSize(c.BufferBytes, len(online)),
			threads:   maxThreads,
		},
		cpus:     online,
		follow:   !c.NoFollow,
		sampleHz: c.SampleHz,
		stacks:   cmp.Or(c.Stacks, DefaultStacks),
		btf:      c.BTF,
	})
}

// maxThreads is for how many threads of the targets there is room. One that
// finds none is counted and has no faults or run queue.
const maxThreads = 16384

// faultTrap measures the cost of a fault outside its events, or returns -1.
func (k *kernel) faultTrap(log func(string)) int64 {
	if k.progs[bpf.KernelProgFaultBegin] == nil {
		return absent
	}
	trap, err := measureFaultTrap(k.maps.Variables[bpf.KernelVarCalibration])
	if err != nil {
		log(err.Error())
		return absent
	}
	return trap
}

func makeHeader(c *Config, k *kernel, targets []eventfile.Target, began eventfile.Time, trap int64) *eventfile.Header {
	host, _ := os.Hostname()
	return &eventfile.Header{
		Tool:           c.Tool,
		Host:           host,
		Kernel:         kernelRelease(),
		Arch:           runtime.GOARCH,
		CPUs:           k.cpus,
		Started:        began,
		RealtimeOffset: realtimeOffset(),
		Targets:        targets,
		Hooks:          k.hooks,
		Options:        c.Args,
		FaultTrap:      trap,
		SampleHz:       int32(c.SampleHz),
	}
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func pidsOf(targets []eventfile.Target) []int32 {
	var pids []int32
	for _, t := range targets {
		pids = append(pids, t.Pid)
	}
	return pids
}

func (s *session) log(text string) {
	if s.cfg.Log != nil {
		s.cfg.Log(text)
	}
}

// interval of each thing that a recording does again and again. An event waits
// for two drains and a flush: together a second at most.
const (
	drainEvery    = 100 * time.Millisecond
	boxEvery      = 100 * time.Millisecond
	flushEvery    = 800 * time.Millisecond
	progressEvery = 250 * time.Millisecond
)
