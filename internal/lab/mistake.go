package lab

import (
	"fmt"
	"time"
)

// Mistake is a request of the tail whose verdict counts against a cause.
type Mistake struct {
	*Truth
	Verdict string
}

// String says what was done to the request, what was said of it, and what else
// is known of it.
func (m Mistake) String() string {
	what := "nothing"
	if m.Cause != "" {
		what = fmt.Sprintf("%s for %s", m.Cause, time.Duration(m.InjectedNS))
	}
	if m.Beside != "" {
		what += ", " + m.Beside + " beside it"
	}
	return fmt.Sprintf("request %d, in which %s was injected, got %s; it took %s, %s of it after the answer, "+
		"%s on the CPU, %s waiting for it and %s before; %d page faults, %d voluntary and %d other switches",
		m.ID, what, m.Verdict, time.Duration(m.LatencyNS), time.Duration(m.AfterNS), time.Duration(m.CPUNS), time.Duration(m.WaitedNS), time.Duration(m.AheadNS),
		m.MinorFaults+m.MajorFaults, m.Voluntary, m.Involuntary)
}
