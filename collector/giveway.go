package collector

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// GiveWay makes the calling process a batch task (SCHED_BATCH): its wakeups no
// longer take the CPU from a service that runs; it gets its share at the next
// tick, or when the service sleeps. Threads that start later inherit this. It
// is for a process that does nothing but record. A process that somebody gave
// another policy than the default keeps it.
func GiveWay() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := makeBatch(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("give way to the service: %w", err)
		}
	}
	return nil
}

func makeBatch(tid int) error {
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return err
	}
	if attr.Policy != unix.SCHED_NORMAL {
		return nil
	}
	attr.Policy = unix.SCHED_BATCH
	return unix.SchedSetAttr(tid, attr, 0)
}
