package collector

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// onlineCPUs returns the numbers of the CPUs that are online, which may have
// gaps.
func onlineCPUs() ([]int32, error) {
	raw, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("list CPUs: %w", err)
	}
	return parseCPUList(strings.TrimSpace(string(raw)))
}

// parseCPUList reads the kernel's list format: "0-3,8,10-11".
func parseCPUList(list string) ([]int32, error) {
	var cpus []int32
	for part := range strings.SplitSeq(list, ",") {
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
	return cpus, nil
}
