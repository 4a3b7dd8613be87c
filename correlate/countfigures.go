package correlate

import "github.com/tailtrace/tailtrace/collector/eventfile"

// Figures made of what CPUs counted. One that was not measured is nil.
const (
	figureInstructions   = iota
	figurePerCycle       // instructions
	figureCyclesPerNS    // of its time on the CPU: the clock that it really had
	figureStalled        // share of its cycles
	figurePerInstruction // ns on the CPU
	countFigures
)

type figures [countFigures]*float64

func (r *Request) figures() (f figures) {
	cycles, hasCycles := r.count(eventfile.CounterCycles)
	instructions, hasInstructions := r.count(eventfile.CounterInstructions)
	stalled, hasStalled := r.count(eventfile.CounterStalled)
	ns := float64(r.counted.ns)
	if hasInstructions && instructions > 0 {
		f[figureInstructions], f[figurePerInstruction] = figure(instructions), figure(ns/instructions)
	}
	if !hasCycles || cycles == 0 {
		return f
	}
	f[figureCyclesPerNS] = figure(cycles / ns)
	if hasInstructions {
		f[figurePerCycle] = figure(instructions / cycles)
	}
	if hasStalled {
		f[figureStalled] = figure(stalled / cycles)
	}
	return f
}

// normalFigures takes the medians of those figures that enough requests have.
func normalFigures(reqs []*Request) (out figures) {
	var all [countFigures][]float64
	for _, r := range reqs {
		for i, v := range r.figures() {
			if v != nil {
				all[i] = append(all[i], *v)
			}
		}
	}
	for i, list := range all {
		if len(list) < enoughCounted {
			continue
		}
		v, _ := middle(list)
		out[i] = figure(v)
	}
	return out
}

// countEvidence holds the figures of r against those of normal requests.
func countEvidence(r *Request) []Evidence {
	f, n := r.figures(), &r.group.Base.Figures
	var list []Evidence
	for i, what := range [countFigures]string{
		figureInstructions: EvidenceInstructions, figurePerCycle: EvidencePerCycle,
		figureCyclesPerNS: EvidenceCyclesPerNS, figureStalled: EvidenceStalled,
	} {
		if what == "" || f[i] == nil || n[i] == nil {
			continue
		}
		if what == EvidenceStalled && *f[i] == 0 && *n[i] == 0 {
			continue // some PMUs have the counter and never count
		}
		list = append(list, Evidence{What: what, Value: f[i], Normal: n[i]})
	}
	return list
}

// moreWork: the instructions that r has beyond normal, each at the time that
// one takes normally, account for half of what it was on the CPU beyond
// normal. The counts have its interrupts and faults in them, and so has that.
func moreWork(r *Request) bool {
	base := &r.group.Base
	f, n := r.figures(), &base.Figures
	if f[figureInstructions] == nil || n[figureInstructions] == nil {
		return false
	}
	over := r.Parts.OnCPU() - base.Parts.OnCPU()
	more := *f[figureInstructions] - *n[figureInstructions]
	return over > 0 && more**n[figurePerInstruction] >= half*float64(over)
}
