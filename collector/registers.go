package collector

import "github.com/tailtrace/tailtrace/collector/eventfile"

// How the programs find the registers with which a task entered the kernel,
// which tell its system call.
const (
	registersByHelper = "bpf_task_pt_regs"
	registersOnStack  = "kernel stack"
)

// registers returns which of the ways this kernel takes, or "".
func (k kernelTypes) registers() string {
	switch {
	case k.hasFunc("bpf_task_pt_regs"):
		return registersByHelper
	case k.hasField("task_struct", "stack_vm_area") && k.hasField("vm_struct", "nr_pages"):
		return registersOnStack
	}
	return ""
}

// registersHook tells of registers as of a hook.
func registersHook(how string) eventfile.Hook {
	h := eventfile.Hook{Name: "system_calls", How: how}
	if how == "" {
		h.Why = "this kernel has no bpf_task_pt_regs (5.15), and its stacks no mapping of their own"
		h.Lost = "in which system call a thread waits: that time counts as blocked, and who holds a lock is not named; " +
			"after a page fault that failed, a wait may count as fault-io"
	}
	return h
}
