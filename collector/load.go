package collector

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"github.com/tailtrace/tailtrace/bpf"
)

// sizes of the kernel maps.
type sizes struct {
	cpus      int // possible CPUs
	ringBytes int // of one CPU's ring, where it is online
	threads   int
}

// kernelSpec returns the object set up for this kernel and these sizes.
func kernelSpec(k kernelTypes, cfg *kernelConfig) (*ebpf.CollectionSpec, error) {
	load := bpf.LoadKernel
	if k.raw() {
		load = bpf.LoadRawKernel
	}
	spec, err := load()
	if err != nil {
		return nil, fmt.Errorf("read the kernel object: %w", err)
	}
	spec.Maps[bpf.KernelMapCpus].MaxEntries = uint32(cfg.sizes.cpus)
	// By itself the library takes this from a list of CPUs that may not have gaps.
	for _, c := range pmuCounters {
		spec.Maps[c.events].MaxEntries = uint32(cfg.sizes.cpus)
	}
	spec.Maps[bpf.KernelMapThreads].MaxEntries = uint32(cfg.sizes.threads)
	spec.Maps[bpf.KernelMapRings].MaxEntries = uint32(cfg.sizes.cpus)
	spec.Maps[bpf.KernelMapRings].InnerMap.MaxEntries = uint32(cfg.sizes.ringBytes)
	for name, on := range map[string]bool{
		bpf.KernelVarSwitchHasState: k.switchHasState(),
		bpf.KernelVarHaveTaskPtRegs: k.registers() == registersByHelper,
		bpf.KernelVarFollow:         cfg.follow,
		bpf.KernelVarStackOnCpu:     cfg.stacks != StacksOff,
		bpf.KernelVarStackOffCpu:    cfg.stacks == StacksAll,
	} {
		var v uint8
		if on {
			v = 1
		}
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
	}
	if err := spec.Variables[bpf.KernelVarCounters].Set(cfg.counters); err != nil {
		return nil, fmt.Errorf("set %s: %w", bpf.KernelVarCounters, err)
	}
	return spec, k.setStack(spec)
}

// loader loads programs one source at a time, onto one set of maps, so that
// one that this kernel refuses does not take the others with it.
type loader struct {
	types kernelTypes
	spec  *ebpf.CollectionSpec
	maps  *ebpf.Collection
	cache *btf.Cache
}

func newLoader(k kernelTypes, cfg *kernelConfig) (*loader, error) {
	spec, err := kernelSpec(k, cfg)
	if err != nil {
		return nil, err
	}
	only := spec.Copy()
	only.Programs = nil
	maps, err := ebpf.NewCollection(only)
	if err != nil {
		return nil, fmt.Errorf("create kernel maps: %w", err)
	}
	return &loader{types: k, spec: spec, maps: maps, cache: btf.NewCache()}, nil
}

// load returns the programs of s by name.
func (l *loader) load(s *source) (map[string]*ebpf.Program, error) {
	for _, p := range s.points {
		if _, ok := l.types.tracepoint(p); !ok {
			return nil, fmt.Errorf("this kernel has no tracepoint %s", p)
		}
	}
	part := l.spec.Copy()
	part.Programs = make(map[string]*ebpf.ProgramSpec)
	for _, name := range s.progs {
		part.Programs[name] = l.spec.Programs[name].Copy()
	}
	opts := ebpf.CollectionOptions{MapReplacements: l.maps.Maps, Cache: l.cache}
	if l.types.raw() {
		opts.Programs.KernelTypes = l.types.spec
	}
	coll, err := ebpf.NewCollectionWithOptions(part, opts)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", s.name, err)
	}
	defer coll.Close()
	progs := make(map[string]*ebpf.Program)
	for _, name := range s.progs {
		progs[name] = coll.DetachProgram(name)
	}
	return progs, nil
}
