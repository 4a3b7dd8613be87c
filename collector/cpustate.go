package collector

import (
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
)

// cpuStates is what the kernel side keeps of each CPU, mapped into memory. A
// system call on a map would keep the kernel from running programs on perf
// events, and so from seeing page faults, for as long as it takes: where the
// kernel is preemptible, until the caller has its CPU back.
type cpuStates struct {
	mem *ebpf.Memory
	buf [unsafe.Sizeof(bpf.KernelCpuState{})]byte
}

func newCPUStates(m *ebpf.Map) (*cpuStates, error) {
	mem, err := m.Memory()
	if err != nil {
		return nil, fmt.Errorf("map the state of CPUs: %w", err)
	}
	return &cpuStates{mem: mem}, nil
}

// read copies the state of one CPU.
func (c *cpuStates) read(cpu int) (*bpf.KernelCpuState, error) {
	if _, err := c.mem.ReadAt(c.buf[:], int64(cpu*len(c.buf))); err != nil {
		return nil, fmt.Errorf("read the state of CPU %d: %w", cpu, err)
	}
	state := *(*bpf.KernelCpuState)(unsafe.Pointer(&c.buf))
	return &state, nil
}
