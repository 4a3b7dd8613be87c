package lab

import "slices"

// normal is a request in which nothing was injected: medians of these.
type normal struct {
	latency, waited int64
	counted         bool // for how long threads waited
}

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
		latency: median(func(t *Truth) int64 { return t.LatencyNS }),
		waited:  median(func(t *Truth) int64 { return t.WaitedNS }),
		counted: slices.ContainsFunc(truth, func(t Truth) bool { return t.WaitedNS > 0 }),
	}
}

// mayBe reports whether a request can have a verdict that was not injected:
// because the machine, or another request, does that to a request, and what
// the kernel counted on its thread does not contradict it, less what it counted
// as waiting while a CPU was late to switch. A verdict needs half of what a
// request took beyond normal.
func (n normal) mayBe(shape Shape, t *Truth, named Named) bool {
	if t.Cause != "" && !n.disturbed(t) {
		return false
	}
	if named.Verdict == t.Beside {
		return true
	}
	sh, err := shape.find()
	c := findCause(named.Verdict)
	if err != nil || c == nil || !sh.natural(c) {
		return false
	}
	if !n.counted {
		return true
	}
	more, waited := t.LatencyNS-n.latency, t.WaitedNS-named.LateNS-n.waited
	switch c {
	case &preemptedCause:
		return waited+t.AheadNS >= more/3
	case &lockCause:
		return t.CPUNS == 0 || t.Voluntary > 0
	case &faultCause:
		return t.MinorFaults+t.MajorFaults > 0
	case &slowStepCause, &slowCoreCause:
		return waited <= more*2/3
	}
	return true
}

// disturbed reports whether an injection was demonstrably not all. By the
// kernel's counts the thread, or its virtual CPU, stood still for half as long
// as one that was to use the CPU; or it waited that long for the CPU; or what
// they leave for the cause is less than half of what the request took beyond
// normal; or the answer lay that long with the client. An answer that the client
// is to leave lies for what the service leaves of the injection: the service is
// not to take half as long itself.
func (n normal) disturbed(t *Truth) bool {
	c := findCause(t.Cause)
	if c == nil {
		return false
	}
	half := t.InjectedNS / 2
	stood := c.onCPU && t.CPUNS > 0 && t.LatencyNS-t.CPUNS > half
	waited := !c.runnable && t.WaitedNS > half
	left := t.LatencyNS - t.CPUNS - t.WaitedNS - t.AfterNS
	if c.runnable {
		left = t.WaitedNS + t.AheadNS
	}
	little := (c.blocked || c.runnable && n.counted) && t.CPUNS > 0 && left < (t.LatencyNS-n.latency)/2
	lay := c != &clientCause && t.AfterNS > half
	served := c == &clientCause && t.LatencyNS-t.AfterNS-n.latency > t.AfterNS/2
	return stood || waited || little || lay || served
}
