package collector

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// maxSteal is the share of time that a hypervisor may take from a quiet CPU.
const maxSteal = 0.01

// load is the average over a minute: of tasks that run or want to, and of
// those that wait for a disk.
func (m machine) load(most float64) Condition {
	c := Condition{Name: "load"}
	first, _, _ := strings.Cut(m.text("proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		c.Value, c.Broken = "not known", "there is no readable /proc/loadavg"
		return c
	}
	c.Value = fmt.Sprintf("%.2f (at most %.2f)", load, most)
	if load > most {
		c.Broken, c.Fix = "work is running or has just ended", "wait a minute, and see what cpu names"
	}
	return c
}

// watchCPUs is busy with nothing but waiting.
func watchCPUs(ctx context.Context, l QuietLimits) (busy, steal Condition, err error) {
	cpus, err := onlineCPUs()
	if err != nil {
		return busy, steal, err
	}
	box, err := openBox(cpus, int32(os.Getpid()))
	if err != nil {
		return busy, steal, err
	}
	defer box.close()
	m := machine{root: "/"}
	tasks, start := m.cpuOfProcesses(), now()
	select {
	case <-ctx.Done():
		return busy, steal, ctx.Err()
	case <-time.After(l.Watch):
	}
	s, err := box.sample()
	if err != nil {
		return busy, steal, err
	}
	wall := int64(s.Time - start)
	return busyCondition(&s, wall, l.MaxCPU, hungriest(tasks, m.cpuOfProcesses(), wall)), stealCondition(&s, wall), nil
}

func busyCondition(s *eventfile.BoxSample, wall int64, most float64, who string) Condition {
	top := slices.MaxFunc(s.CPUs, func(a, b eventfile.CPUSample) int { return cmp.Compare(a.Busy, b.Busy) })
	share := min(1, float64(max(top.Busy, 0))/float64(max(wall, 1)))
	c := Condition{Name: "cpu", Value: fmt.Sprintf("%.1f%% of CPU %d, the busiest (at most %.3g%%)", 100*share, top.CPU, 100*most)}
	if share > most {
		c.Broken, c.Fix = "work is running", "stop it"
		if who != "" {
			c.Broken += ": " + who
		}
	}
	return c
}

func stealCondition(s *eventfile.BoxSample, wall int64) Condition {
	top := slices.MaxFunc(s.CPUs, func(a, b eventfile.CPUSample) int { return cmp.Compare(a.Steal, b.Steal) })
	if top.Steal < 0 {
		return Condition{Name: "steal", Value: "not available"}
	}
	share := float64(top.Steal) / float64(max(wall, 1))
	c := Condition{Name: "steal", Value: fmt.Sprintf("%.1f%%", 100*share)}
	if share > maxSteal {
		c.Broken = fmt.Sprintf("the hypervisor takes time from CPU %d", top.CPU)
		c.Fix = "use a machine whose CPUs are its own"
	}
	return c
}

// cpuOfProcesses is the CPU time of every process, ns, by pid and comm.
func (m machine) cpuOfProcesses() map[string]int64 {
	used := map[string]int64{}
	for pid, p := range processes(m.path("proc")) { // who it was is a help, not a condition
		used[fmt.Sprintf("%s[%d]", p.comm, pid)] = p.cpu
	}
	return used
}

// hungriest names the processes that used the most, from a hundredth of a CPU.
func hungriest(before, after map[string]int64, wall int64) string {
	type use struct {
		who string
		ns  int64
	}
	var list []use
	for who, ns := range after {
		if ns -= before[who]; ns*100 >= wall {
			list = append(list, use{who, ns})
		}
	}
	slices.SortFunc(list, func(a, b use) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.who, b.who)) })
	var names []string
	for _, u := range list {
		names = append(names, fmt.Sprintf("%s %.0f%%", u.who, 100*float64(u.ns)/float64(max(wall, 1))))
	}
	return firstOf(names, 3)
}
