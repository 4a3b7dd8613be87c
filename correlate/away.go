package correlate

import "github.com/tailtrace/tailtrace/correlate/part"

// cpuAway is the least time for which r's CPU was away while the thread had
// it, ns: what the kernel did not charge the thread for, less what interrupts
// took, which some kernels do not charge either. Of a stay that r had not to
// itself, all that can have been in the rest of it is left out.
func (r *Request) cpuAway() int64 {
	interrupts := r.Parts[part.IRQ] + r.Parts[part.Softirq] + r.Parts[part.NMI]
	return max(0, r.away-interrupts)
}

// wasAway: half of what r ran beyond normal, ns, is time in which its CPU was
// away. No step of the service is to blame for that, wherever it fell.
func (r *Request) wasAway(over int64) bool {
	away := r.cpuAway() - r.group.Base.Away
	return away > 0 && float64(away) >= half*float64(over)
}

// awayEvidence says for how long the CPU was away, where it is worth a line.
func awayEvidence(r *Request) []Evidence {
	ns, normal := r.cpuAway(), r.group.Base.Away
	if ns-normal < minEvidence {
		return nil
	}
	return []Evidence{{What: EvidenceAway, NS: ns, Value: figure(float64(ns)), Normal: figure(float64(normal))}}
}
