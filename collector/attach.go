package collector

import (
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// kernel is the attached kernel side. Nothing of it is pinned: it goes with
// the process, however that ends.
type kernel struct {
	maps     *ebpf.Collection
	progs    map[string]*ebpf.Program
	attached []io.Closer
	perf     []*perfHook // of attached
	iter     *link.Iter  // nil where the kernel has none
	byProc   bool        // the snapshot comes from /proc instead
	hooks    []eventfile.Hook
	rings    *rings
	cpus     []int32 // online when it was attached
	pmu      *pmu
	faults   faultEvents
	states   *cpuStates
}

type kernelConfig struct {
	sizes    sizes
	cpus     []int32 // online
	follow   bool
	sampleHz int
	stacks   string
	counters uint8  // as pmu.set gives them
	btf      string // see Config
}

// attachKernel loads and attaches every source that this kernel takes. It
// traces nothing yet: no process is a target.
func attachKernel(cfg kernelConfig) (*kernel, error) {
	types, err := loadKernelTypes(cfg.btf)
	if err == nil && types.raw() {
		err = types.selfCheck()
	}
	if err != nil {
		return nil, err
	}
	pmu := openPMU(cfg.cpus)
	cfg.counters = pmu.set()
	l, err := newLoader(types, &cfg)
	if err != nil {
		pmu.Close()
		return nil, err
	}
	// What is first here goes last.
	k := &kernel{maps: l.maps, progs: make(map[string]*ebpf.Program), attached: []io.Closer{pmu}, cpus: cfg.cpus, pmu: pmu}
	if err := k.attachAll(l, cfg); err != nil {
		k.close()
		return nil, err
	}
	k.hooks = append(k.hooks, registersHook(types.registers()), stacksHook(cfg.stacks), pmu.hook())
	return k, nil
}

func (k *kernel) attachAll(l *loader, cfg kernelConfig) (err error) {
	if err := k.pmu.connect(l.maps.Maps); err != nil {
		return err
	}
	if k.states, err = newCPUStates(l.maps.Maps[bpf.KernelMapCpus]); err != nil {
		return err
	}
	if k.rings, err = newRings(l.maps.Maps[bpf.KernelMapRings], cfg.sizes, cfg.cpus); err != nil {
		return err
	}
	for _, s := range sources() {
		if l.types.raw() {
			s = s.withoutTypes()
		}
		if err := k.add(l, &s, &cfg); err != nil {
			return err
		}
	}
	return nil
}

// add puts s in the plan, on or off. It fails only where s is a must.
func (k *kernel) add(l *loader, s *source, cfg *kernelConfig) error {
	if !s.ours() {
		return nil
	}
	if s.how == perfClock && cfg.sampleHz == 0 {
		k.hooks = append(k.hooks, s.off("turned off"))
		return nil
	}
	progs, err := l.load(s)
	if err == nil {
		err = k.attach(s, progs, cfg)
	}
	if err != nil {
		for _, p := range progs {
			p.Close()
		}
		if s.must {
			return explainRefusal(fmt.Errorf("attach %s: %w", s.name, err))
		}
		k.hooks = append(k.hooks, s.off(err.Error()))
		return nil
	}
	for name, p := range progs {
		k.progs[name] = p
	}
	k.hooks = append(k.hooks, s.on())
	return nil
}

func (k *kernel) attach(s *source, progs map[string]*ebpf.Program, cfg *kernelConfig) (err error) {
	var opened []io.Closer
	var perf []*perfHook
	defer func() {
		if err != nil {
			closeAll(opened)
			return
		}
		k.attached = append(k.attached, opened...)
		k.perf = append(k.perf, perf...)
	}()
	events := func(prog string, attr unix.PerfEventAttr) (h *perfHook) {
		if err != nil {
			return nil
		}
		if h, err = attachPerf(progs[prog], attr, cfg.cpus); err == nil {
			opened, perf = append(opened, h), append(perf, h)
		}
		return h
	}
	switch s.how {
	case tpBTF:
		for _, name := range s.progs {
			l, err := link.AttachTracing(link.TracingOptions{Program: progs[name]})
			if err != nil {
				return err
			}
			opened = append(opened, l)
		}
	case rawTP:
		for _, name := range s.progs {
			l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: progs[name]})
			if err != nil {
				return err
			}
			opened = append(opened, l)
		}
	case perfFaults:
		events(bpf.KernelProgFaultBegin, every(unix.PERF_COUNT_SW_PAGE_FAULTS))
		faults := faultEvents{
			events(bpf.KernelProgFaultMinor, every(unix.PERF_COUNT_SW_PAGE_FAULTS_MIN)),
			events(bpf.KernelProgFaultMajor, every(unix.PERF_COUNT_SW_PAGE_FAULTS_MAJ)),
		}
		if err == nil {
			k.faults = faults
		}
	case perfClock:
		events(bpf.KernelProgSample, clock(cfg.sampleHz))
	case taskIter:
		k.iter, err = link.AttachIter(link.IterOptions{Program: progs[bpf.KernelProgSnapshot]})
		if err == nil {
			opened = append(opened, k.iter)
		}
	case procTasks:
		k.byProc = true
	}
	return err
}

// detach stops all events, those last that others are told by. What is in the
// rings stays there.
func (k *kernel) detach() error {
	slices.Reverse(k.attached)
	err := closeAll(k.attached)
	k.attached = nil
	return err
}

func (k *kernel) close() {
	k.detach()
	for _, p := range k.progs {
		p.Close()
	}
	if k.rings != nil {
		k.rings.close()
	}
	k.maps.Close()
}
