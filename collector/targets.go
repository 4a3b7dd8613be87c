package collector

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/bpf"
)

// trace makes a process a target, from now on, if it is none already. The
// snapshot fills in its start time.
func (k *kernel) trace(pid int32) error {
	err := k.maps.Maps[bpf.KernelMapTargets].Update(uint32(pid), bpf.KernelTarget{}, ebpf.UpdateNoExist)
	if err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
		return fmt.Errorf("trace process %d: %w", pid, err)
	}
	return nil
}

// snapshot passes on the state of each thread of the targets that has not
// been in an event yet.
func (k *kernel) snapshot(pids []int32, each func(raw []byte) error) error {
	if k.byProc {
		return k.procSnapshot(pids, each)
	}
	if k.iter == nil {
		return nil
	}
	r, err := k.iter.Open()
	if err != nil {
		return fmt.Errorf("take snapshot: %w", err)
	}
	defer r.Close()
	raw := make([]byte, unsafe.Sizeof(bpf.KernelPointEvent{}))
	for {
		if _, err := io.ReadFull(r, raw); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("take snapshot: %w", err)
		}
		if err := each(raw); err != nil {
			return err
		}
	}
}
