package collector

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	onlinePath   = "/sys/devices/system/cpu/online"
	possiblePath = "/sys/devices/system/cpu/possible"
)

// onlineCPUs returns the numbers of the CPUs that are online, which may have
// gaps.
func onlineCPUs() ([]int32, error) { return readCPUList(onlinePath) }

// possibleCPUs is above the number of each CPU that this machine can ever
// have.
func possibleCPUs() (int, error) {
	cpus, err := readCPUList(possiblePath)
	if err != nil {
		return 0, err
	}
	return int(slices.Max(cpus)) + 1, nil
}

func readCPUList(path string) ([]int32, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	return parseCPUList(string(raw))
}

// parseCPUList reads the kernel's list format: "0-3,8,10-11". A list has at
// least one.
func parseCPUList(list string) ([]int32, error) {
	var cpus []int32
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, err := strconv.ParseInt(first, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("parse CPU list %q: %w", list, err)
		}
		b, err := strconv.ParseInt(last, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("parse CPU list %q: %w", list, err)
		}
		for cpu := a; cpu <= b; cpu++ {
			cpus = append(cpus, int32(cpu))
		}
	}
	if len(cpus) == 0 {
		return nil, fmt.Errorf("parse CPU list %q: it has none", list)
	}
	return cpus, nil
}

// cpuWatch notices CPUs that go offline and come online.
type cpuWatch struct {
	list   *procFile
	online []int32 // when last looked at
}

// openCPUWatch begins with the CPUs that were online a moment ago.
func openCPUWatch(path string, online []int32) (*cpuWatch, error) {
	list, err := openProcFile(path)
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	return &cpuWatch{list: list, online: online}, nil
}

// look returns which CPUs have come and gone since the last look.
func (w *cpuWatch) look() (came, went []int32, err error) {
	text, err := w.list.read()
	if err != nil {
		return nil, nil, err
	}
	online, err := parseCPUList(string(text))
	if err != nil {
		return nil, nil, err
	}
	came, went = without(online, w.online), without(w.online, online)
	w.online = online
	return came, went, nil
}

// without returns those of cpus that are not among others.
func without(cpus, others []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(cpus), func(cpu int32) bool { return slices.Contains(others, cpu) })
}

func (w *cpuWatch) close() { w.list.Close() }
