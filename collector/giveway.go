package collector

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// giveWayNice weighs a tenth of an ordinary task.
const giveWayNice = 10

// GiveWay makes the calling process stand back behind the service: an idle
// task (SCHED_IDLE), which every wakeup of an ordinary task takes the CPU from
// at once, where it may come back from that (CAP_SYS_NICE; see pacer),
// otherwise a nice batch task, whose own wakeups take the CPU from nobody.
// Threads that start later inherit it. It is for a process that does nothing
// but record. One that somebody gave another policy or priority keeps it.
func GiveWay() error {
	policy, err := politePolicy()
	if err != nil {
		return err
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := standBack(tid, policy); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("give way to the service: %w", err)
		}
	}
	return nil
}

func politePolicy() (uint32, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read own capabilities: %w", err)
	}
	effective, err := parseCapEff(string(status))
	if err != nil {
		return 0, err
	}
	if effective&(1<<capSysNice) != 0 {
		return unix.SCHED_IDLE, nil
	}
	return unix.SCHED_BATCH, nil
}

func standBack(tid int, policy uint32) error {
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil {
		return err
	}
	if attr.Policy != unix.SCHED_NORMAL || attr.Nice != 0 {
		return nil
	}
	attr.Policy = policy
	if policy == unix.SCHED_BATCH {
		attr.Nice = giveWayNice
	}
	return unix.SchedSetAttr(tid, attr, 0)
}
