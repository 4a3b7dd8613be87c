package lab

import "slices"

// normal is a request in which nothing was injected: medians of these.
type normal struct{ latency, cpu, switches, involuntary int64 }

func normalOf(truth []Truth) normal {
	median := func(f func(*Truth) int64) int64 {
		var v []int64
		for i := range truth {
			if truth[i].Cause == "" {
				v = append(v, f(&truth[i]))
			}
		}
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return normal{
		latency:     median(func(t *Truth) int64 { return t.LatencyNS }),
		cpu:         median(func(t *Truth) int64 { return t.CPUNS }),
		switches:    median((*Truth).switches),
		involuntary: median(func(t *Truth) int64 { return int64(t.Involuntary) }),
	}
}

func (t *Truth) switches() int64 { return int64(t.Voluntary) + int64(t.Involuntary) }

// mayBe reports whether a request with nothing injected can have the verdict:
// because the machine, or another request, does that to a request, and what
// the kernel counted on its thread does not contradict it.
func (n normal) mayBe(shape Shape, t *Truth, verdict string) bool {
	if verdict == t.Beside {
		return true
	}
	sh, err := shape.find()
	c := findCause(verdict)
	if err != nil || c == nil || !sh.natural(c) {
		return false
	}
	if t.CPUNS == 0 {
		return true
	}
	switch c {
	case &preemptedCause:
		return int64(t.Involuntary) > n.involuntary
	case &slowStepCause, &slowCoreCause:
		// It had the CPU, or rather believed so: a hypervisor that takes it
		// away leaves no switch, and stops the CPU time.
		return t.switches() <= n.switches || t.CPUNS-n.cpu >= (t.LatencyNS-n.latency)/3
	}
	return true
}
