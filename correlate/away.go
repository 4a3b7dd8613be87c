package correlate

import (
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// addAway books the time of a stay that the kernel did not charge, less all of
// it that can have been in the elsewhere ns that were not r's.
func (r *Request) addAway(s *timeline.Stay, elsewhere int64) {
	ns := max(0, s.Away-elsewhere)
	if s.Unseen {
		r.unseen += ns
		return
	}
	r.away += ns
}

// addLate books the end of a stay in which the CPU was late to switch.
func (b *stayBook) addLate(open []piece, s *timeline.Stay) {
	if s.Lag <= 0 {
		return
	}
	start := s.End.Add(-min(s.Lag, s.Len()))
	for i := range open {
		if p := &open[i]; p.onThread() {
			b.reqs[p.req].late += overlap(p.start, p.end, start, s.End) - p.inOthers(open, start, s.End)
		}
	}
}

// unseenSwitches takes the time in which the thread did not have the CPU, though
// no switch says so, from what r ran beyond normal, and counts it as unknown.
// The parts have it as running: nobody knows when in its stay it was.
func (r *Request) unseenSwitches(excess *part.Times) {
	ns := min(r.unseen, max(0, excess[part.Running]))
	excess[part.Running] -= ns
	excess[part.Unknown] += ns
}

// cpuAway is the least time for which r's CPU was away while the thread had
// it, ns: what the kernel did not charge the thread for, less what interrupts
// took, which some kernels do not charge either.
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

// awayEvidence says for how long the CPU was away or late to switch, where it is
// worth a line.
func awayEvidence(r *Request) (list []Evidence) {
	ns, normal := r.cpuAway(), r.group.Base.Away
	if ns-normal >= minEvidence {
		list = append(list, Evidence{What: EvidenceAway, NS: ns, Value: figure(float64(ns)), Normal: figure(float64(normal))})
	}
	if r.late >= minEvidence {
		list = append(list, Evidence{What: EvidenceLateSwitch, NS: r.late})
	}
	if r.unseen >= minEvidence {
		list = append(list, Evidence{What: EvidenceUnseen, NS: r.unseen})
	}
	return list
}
