package lab

import "slices"

// normal is a request in which nothing was injected: medians of these.
type normal struct{ latency, cpu int64 }

func normalOf(truth []Truth) normal {
	var latency, cpu []int64
	for i := range truth {
		if truth[i].Cause == "" {
			latency = append(latency, truth[i].LatencyNS)
			cpu = append(cpu, truth[i].CPUNS)
		}
	}
	if len(latency) == 0 {
		return normal{}
	}
	slices.Sort(latency)
	slices.Sort(cpu)
	return normal{latency[len(latency)/2], cpu[len(cpu)/2]}
}

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
		return t.Involuntary > 0
	case &slowStepCause, &slowCoreCause:
		// It had the CPU, or rather believed so: a hypervisor that takes it
		// away leaves no switch, and stops the CPU time.
		return t.Voluntary+t.Involuntary == 0 || t.CPUNS-n.cpu >= (t.LatencyNS-n.latency)/3
	}
	return true
}
