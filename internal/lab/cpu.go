package lab

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// allowedCPUs returns the CPUs that this process may use, lowest first.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read own CPU affinity: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// pinProcess keeps every thread that this process has now, and those that
// these will start, on cpus.
func pinProcess(cpus []int) error {
	return eachThread(func(tid int) error { return pin(tid, cpus...) })
}

// eachThread calls f with every thread of this process; those that end
// meanwhile do not count.
func eachThread(f func(tid int) error) error {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("list own threads: %w", err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			return fmt.Errorf("list own threads: %w", err)
		}
		if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// pin keeps a thread on cpus; tid 0 is the calling thread.
func pin(tid int, cpus ...int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(tid, &set); err != nil {
		return fmt.Errorf("pin thread %d to CPUs %v: %w", tid, cpus, err)
	}
	return nil
}

// rank is a real-time priority. All ranks go before ordinary processes.
type rank uint32

const (
	rankLoad   rank = 10 // service and client
	rankAccept rank = 11 // reads requests also while they are worked on
	rankPeer   rank = 20 // stops the service also where both share a CPU
	rankHog    rank = 50
)

// setRealtime gives a thread a rank; tid 0 is the calling thread.
func setRealtime(tid int, r rank) error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: uint32(r)}
	if err := rawSetScheduler(tid, &attr); err != nil {
		return fmt.Errorf("ask for real-time priority: %w", err)
	}
	return nil
}

// setOrdinary takes the calling thread's rank away.
func setOrdinary() error {
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	if err := rawSetScheduler(0, &attr); err != nil {
		return fmt.Errorf("give up real-time priority: %w", err)
	}
	return nil
}

// needRealtime tries it on a thread that ends with the attempt.
func needRealtime(*Plan) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- setRealtime(0, rankHog)
	}()
	return <-result
}

// shield gives the calling thread its rank, unless the plan is to expose it.
func (s setup) shield(r rank) error {
	if s.Plan.Exposed {
		return nil
	}
	return setRealtime(0, r)
}

// shieldProcess shields every thread that this process has now, and those that
// these will start.
func (s setup) shieldProcess(r rank) error {
	if s.Plan.Exposed {
		return nil
	}
	return eachThread(func(tid int) error { return setRealtime(tid, r) })
}

// setName names the process and the calling thread, at most 15 bytes.
func setName(name string) error {
	for _, path := range []string{"/proc/self/comm", "/proc/thread-self/comm"} {
		if err := os.WriteFile(path, []byte(name), 0); err != nil {
			return fmt.Errorf("set the process name: %w", err)
		}
	}
	return nil
}
