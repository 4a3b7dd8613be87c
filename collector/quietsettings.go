package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// governor: any but performance changes the clock with the load.
func (m machine) governor() Condition {
	c := Condition{Name: "governor", Value: "not available"}
	files, _ := filepath.Glob(m.path("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	var found, others []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		g := strings.TrimSpace(string(b))
		if !slices.Contains(found, g) {
			found = append(found, g)
		}
		if g != "performance" {
			others = append(others, filepath.Base(filepath.Dir(filepath.Dir(f))))
		}
	}
	if len(found) > 0 {
		c.Value = strings.Join(found, ", ")
	}
	if len(others) > 0 {
		c.Broken, c.Fix = "the clock follows the load on "+firstOf(others, 4), "cpupower frequency-set -g performance"
	}
	return c
}

// thp: with huge pages for all, a page fault may clear or compact 2 MiB.
func (m machine) thp() Condition {
	c := Condition{Name: "thp", Value: "not available"}
	_, rest, ok := strings.Cut(m.text("sys/kernel/mm/transparent_hugepage/enabled"), "[")
	if !ok {
		return c
	}
	c.Value, _, _ = strings.Cut(rest, "]")
	if c.Value == "always" {
		c.Broken = "the kernel makes huge pages behind every process"
		c.Fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
	}
	return c
}

// swap: what is out comes back as a major fault.
func (m machine) swap() Condition {
	text := []byte(m.text("proc/meminfo"))
	total, free := parseKeyed(text, "SwapTotal"), parseKeyed(text, "SwapFree")
	if total < 0 || free < 0 {
		return Condition{Name: "swap", Value: "not available"}
	}
	c := Condition{Name: "swap", Value: fmt.Sprintf("%d KiB of %d in use", total-free, total)}
	switch {
	case total == 0:
		c.Value = "none"
	case total > free:
		c.Broken, c.Fix = "pages are out, and come back from the disk when touched", "swapoff -a, if memory allows"
	}
	return c
}
