package collector

import (
	"fmt"
	"os"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// How the programs find the registers with which a task entered the kernel,
// which tell its system call.
const (
	registersByHelper = "bpf_task_pt_regs"
	registersOnStack  = "kernel stack"
)

// registers returns which of the ways this kernel takes, or "". The helper
// takes no task but one whose type the kernel knows.
func (k kernelTypes) registers() string {
	switch {
	case !k.raw() && k.hasFunc("bpf_task_pt_regs"):
		return registersByHelper
	case k.noRegisters:
		return ""
	case k.hasField("task_struct", "stack_vm_area") && k.hasField("vm_struct", "nr_pages"):
		return registersOnStack
	}
	return ""
}

// setStack tells the programs of spec where on a kernel stack the registers
// are, if they are to be found there.
func (k kernelTypes) setStack(spec *ebpf.CollectionSpec) error {
	if k.registers() != registersOnStack {
		return nil
	}
	for name, value := range map[string]uint32{
		bpf.KernelVarPageBytes:    uint32(os.Getpagesize()),
		bpf.KernelVarStackPadding: k.stackPadding,
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// registersHook tells of registers as of a hook.
func registersHook(how string) eventfile.Hook {
	h := eventfile.Hook{Name: "system_calls", How: how}
	if how == "" {
		h.Why = "this kernel has no bpf_task_pt_regs (5.15, with BTF), and the registers are not found on its stacks"
		h.Lost = "in which system call a thread waits: that time counts as blocked, and who holds a lock is not named; " +
			"after a page fault that failed, a wait may count as fault-io"
	}
	return h
}
