package report

import (
	"cmp"
	"slices"
)

// meaning says in a few words what a verdict claims. Runtime spans have names
// of their own.
func meaning(verdict string) string {
	if m, ok := meanings[verdict]; ok {
		return m
	}
	return "a runtime span of the service covers it"
}

var meanings = map[string]string{
	"slow-step":   "one step ran much longer than it does normally",
	"slow-core":   "every step ran slower, or its CPU was away",
	"more-work":   "it took more instructions than normal requests do",
	"unexplained": "it ran for longer, and nothing recorded says why",
	"mixed":       "no single part has half of the excess",
	"incomplete":  "the trace has a gap there",
	"queued":      "its thread was busy with another request",
	"irq":         "in hard interrupts",
	"softirq":     "in softirqs",
	"nmi":         "in NMIs",
	"fault":       "in page faults, on the CPU",
	"fault-io":    "in page faults, waiting for the page",
	"preempted":   "runnable, but another task took the CPU",
	"waking":      "woken, then waited for the CPU",
	"throttled":   "runnable, but its cgroup has used up its CPU quota",
	"lock":        "blocked in a futex",
	"io":          "blocked on a file or device",
	"net":         "blocked on a socket or in a poll",
	"sleep":       "in a timed sleep",
	"stopped":     "stopped by a signal or tracer",
	"blocked":     "off the CPU, on something else",
	"await":       "suspended, waiting for something outside",
	"client":      "outside the service, which was idle",
}

// slowest returns up to n requests, the slowest first.
func slowest(list []Request, n int) []*Request {
	out := make([]*Request, 0, len(list))
	for i := range list {
		out = append(out, &list[i])
	}
	slices.SortStableFunc(out, func(a, b *Request) int { return cmp.Compare(b.Latency, a.Latency) })
	return out[:min(n, len(out))]
}
