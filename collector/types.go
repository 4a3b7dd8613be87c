package collector

import (
	"os"
	"slices"

	"github.com/cilium/ebpf/btf"
)

// kernelTypes answers what the running kernel has, from its type information
// (BTF): vendors backport, so its version says nothing.
type kernelTypes struct {
	spec *btf.Spec
	file string // where the user says it is; "" = the kernel has it itself

	// Of a kernel without types of its own, by selfCheck.
	noRegisters  bool
	stackPadding uint32
}

// ownTypes is where a kernel has its types, if it has any.
const ownTypes = "/sys/kernel/btf/vmlinux"

// NoTypesError says that the kernel has no type information of its own.
// Config.BTF is the way out.
type NoTypesError struct{ Err error }

func (e *NoTypesError) Error() string {
	return "trace the kernel: it has no type information (BTF, CONFIG_DEBUG_INFO_BTF): " + e.Err.Error()
}

func (e *NoTypesError) Unwrap() error { return e.Err }

// loadKernelTypes reads the kernel's own type information, or what the user
// says it is.
func loadKernelTypes(file string) (kernelTypes, error) {
	if file != "" {
		spec, err := loadTypesFile(file)
		return kernelTypes{spec: spec, file: file}, err
	}
	// LoadKernelSpec would go on to look for a vmlinux, which does not help a
	// kernel that cannot check programs against it.
	if _, err := os.Stat(ownTypes); err != nil {
		return kernelTypes{}, &NoTypesError{err}
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return kernelTypes{}, &NoTypesError{err}
	}
	return kernelTypes{spec: spec}, nil
}

// raw reports whether the kernel does not know its types: it then takes raw_tp
// programs, and has no walk over its tasks. A kernel that knows them has
// tp_btf, which came before the ring buffer.
func (k kernelTypes) raw() bool { return k.file != "" }

// tracepoint returns the type of a tracepoint's callback.
func (k kernelTypes) tracepoint(name string) (*btf.FuncProto, bool) {
	var def *btf.Typedef
	if err := k.spec.TypeByName("btf_trace_"+name, &def); err != nil {
		return nil, false
	}
	ptr, ok := btf.UnderlyingType(def.Type).(*btf.Pointer)
	if !ok {
		return nil, false
	}
	proto, ok := ptr.Target.(*btf.FuncProto)
	return proto, ok
}

func (k kernelTypes) hasFunc(name string) bool {
	var fn *btf.Func
	return k.spec.TypeByName(name, &fn) == nil
}

// switchHasState reports whether sched_switch passes the state of the task
// that leaves: callback data, preempt, prev, next, state.
func (k kernelTypes) switchHasState() bool {
	proto, ok := k.tracepoint("sched_switch")
	return ok && len(proto.Params) >= 5
}

func (k kernelTypes) hasField(structName, field string) bool {
	var s *btf.Struct
	if k.spec.TypeByName(structName, &s) != nil {
		return false
	}
	return slices.ContainsFunc(s.Members, func(m btf.Member) bool { return m.Name == field })
}
