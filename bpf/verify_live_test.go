package bpf

import (
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/rlimit"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestProgramsOfBothFlavoursPassTheVerifier(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	types, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string, typ any) bool { return types.TypeByName(name, typ) == nil }
	for name, load := range map[string]func() (*ebpf.CollectionSpec, error){"tp_btf": LoadKernel, "raw_tp": LoadRawKernel} {
		t.Run(name, func(t *testing.T) {
			spec, err := load()
			if err != nil {
				t.Fatal(err)
			}
			set := func(name string, value any) {
				if err := spec.Variables[name].Set(value); err != nil {
					t.Fatal(err)
				}
			}
			// All that is turned on by a variable, where this kernel can have it.
			set(KernelVarStackOnCpu, uint8(1))
			set(KernelVarStackOffCpu, uint8(1))
			set(KernelVarPageBytes, uint32(os.Getpagesize()))
			if name == "tp_btf" && has("bpf_task_pt_regs", new(*btf.Func)) {
				set(KernelVarHaveTaskPtRegs, uint8(1))
			}
			for name, p := range spec.Programs {
				point := p.Type == ebpf.Tracing && p.AttachType == ebpf.AttachTraceRawTp || p.Type == ebpf.RawTracepoint
				if point && !has("btf_trace_"+p.AttachTo, new(*btf.Typedef)) {
					delete(spec.Programs, name) // another architecture's
				}
			}
			coll, err := ebpf.NewCollection(spec)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			coll.Close()
		})
	}
}
