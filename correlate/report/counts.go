package report

import (
	"fmt"

	"github.com/tailtrace/tailtrace/correlate"
)

// countLeads are the figures of a PMU, where there is one.
var countLeads = []lead{
	{correlate.EvidenceInstructions, ""}, {correlate.EvidencePerCycle, ""},
	{correlate.EvidenceStalled, ""}, {correlate.EvidenceCyclesPerNS, ""},
}

// countsDiffer reports whether a figure is other than in normal requests by as
// much as to tell something.
func countsDiffer(what string, v, n float64) bool {
	switch what {
	case correlate.EvidenceInstructions:
		return v >= 1.1*n
	case correlate.EvidencePerCycle, correlate.EvidenceCyclesPerNS:
		return v <= 0.9*n
	case correlate.EvidenceStalled:
		return v >= n+0.1
	}
	return true
}

func countPhrase(what string, v, n float64) string {
	switch what {
	case correlate.EvidenceInstructions:
		return fmt.Sprintf("%s instructions (normal %s)", amount(v), amount(n))
	case correlate.EvidencePerCycle:
		return fmt.Sprintf("%.2f instructions per cycle (normal %.2f)", v, n)
	case correlate.EvidenceStalled:
		return fmt.Sprintf("stalled in %.0f%% of its cycles (normal %.0f%%)", 100*v, 100*n)
	case correlate.EvidenceCyclesPerNS:
		return fmt.Sprintf("%.2f cycles per ns (normal %.2f)", v, n)
	}
	return what
}

// amount formats a large number with about three digits.
func amount(v float64) string {
	switch {
	case v < 1e3:
		return fmt.Sprintf("%.0f", v)
	case v < 1e6:
		return fmt.Sprintf("%.1fk", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.2fM", v/1e6)
	}
	return fmt.Sprintf("%.2fG", v/1e9)
}
