package collector

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
)

// selfCheck fails with a *TypesError where k, which came from a file, is of
// another kernel. No program would fail for that, it would only read other
// fields: so one reads those of the recorder's own thread. It learns where the
// registers are, too.
func (k *kernelTypes) selfCheck() error {
	self, began, err := k.lookAtSelf()
	if err != nil {
		return err
	}
	if what := contradiction(self, began); what != "" {
		return &TypesError{k.file, fmt.Sprintf("they are of another kernel than this one, %s: by them %s", kernelRelease(), what), nil}
	}
	k.noRegisters = self.HasRegs == 0
	k.stackPadding = uint32(self.StackPadding)
	return nil
}

// contradiction says which of a thread's facts, as its types have it, cannot
// be; "" where all agree. It began at about the given time, ns since boot.
func contradiction(self *bpf.RawKernelSelfFacts, began int64) string {
	t := &self.ByTypes
	tid, tgid := uint32(self.PidTgid), uint32(self.PidTgid>>32)
	const maxThreads = 1 << 22 // PID_MAX_LIMIT
	switch {
	case t.Tid != tid || t.Tgid != tgid:
		return fmt.Sprintf("thread %d of process %d is thread %d of process %d", tid, tgid, t.Tid, t.Tgid)
	case commString(t.Comm) != commString(self.Comm): // what follows the name is left from older ones
		return fmt.Sprintf("thread %q has the name %q", commString(self.Comm), commString(t.Comm))
	case self.Leader != tgid:
		return fmt.Sprintf("process %d is process %d", tgid, self.Leader)
	case time.Duration(int64(t.Start)-began).Abs() > time.Second:
		return fmt.Sprintf("a thread that began %d ns after boot began at %d", began, t.Start)
	case self.OnCpu == 0:
		return "a thread does not have the CPU that it runs on"
	case self.Threads == 0 || self.Threads > maxThreads:
		return fmt.Sprintf("a process has %d threads", self.Threads)
	}
	return ""
}

// lookAtSelf runs the program by a page fault of this thread. It also returns
// when that thread began, by /proc.
func (k *kernelTypes) lookAtSelf() (self *bpf.RawKernelSelfFacts, began int64, err error) {
	spec, err := bpf.LoadRawKernel()
	if err != nil {
		return nil, 0, fmt.Errorf("read the kernel object: %w", err)
	}
	if err := k.setStack(spec); err != nil {
		return nil, 0, err
	}
	var loaded struct {
		Look *ebpf.Program  `ebpf:"look_at_self"`
		Self *ebpf.Variable `ebpf:"self"`
	}
	opts := &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: k.spec}}
	if err := spec.LoadAndAssign(&loaded, opts); err != nil {
		return nil, 0, explainRefusal(&TypesError{k.file, "they do not fit this kernel, " + kernelRelease(), err})
	}
	defer loaded.Look.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	event, err := openPerf(loaded.Look, every(unix.PERF_COUNT_SW_PAGE_FAULTS), thisThread, anyCPU)
	if err != nil {
		return nil, 0, fmt.Errorf("check kernel types: %w", err)
	}
	defer event.Close()
	if err := touchPage(); err != nil {
		return nil, 0, err
	}
	self = new(bpf.RawKernelSelfFacts)
	if err := loaded.Self.Get(self); err != nil {
		return nil, 0, fmt.Errorf("check kernel types: %w", err)
	}
	if self.PidTgid == 0 {
		return nil, 0, errors.New("check kernel types: the program that reads a thread did not run")
	}
	if began, err = threadStart(self.Now); err != nil {
		return nil, 0, fmt.Errorf("check kernel types: %w", err)
	}
	return self, began, nil
}

// threadStart returns when this thread began, ns since boot. bootNow is the time
// since boot as the kernel had it a moment ago: ours, and what /proc says, may
// be shifted by a time namespace.
func threadStart(bootNow uint64) (int64, error) {
	shift := readClock(unix.CLOCK_BOOTTIME) - int64(bootNow)
	text, err := os.ReadFile("/proc/thread-self/stat")
	if err != nil {
		return 0, err
	}
	stat, err := parseThreadStat(text)
	return stat.start - shift, err
}

func touchPage() error {
	mem, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	mem[0] = 1
	return unix.Munmap(mem)
}
