package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// runningEvidence says how a request that ran for longer than normal ran: its
// steps, and what the machine did meanwhile beside what it does in normal
// requests.
func (rec *Recording) runningEvidence(r *Request, x *Explanation) []Evidence {
	var list []Evidence
	s := stepStretch(r)
	if s.step >= 0 {
		list = append(list,
			Evidence{What: EvidenceStep, Name: r.group.Steps[s.step], NS: s.excess, Value: figure(s.own), Normal: figure(1)},
			Evidence{What: EvidenceStretch, NS: x.Excess[part.Running], Value: figure(s.total), Normal: figure(1)})
	}
	list = append(list, awayEvidence(r)...)
	list = append(list, rec.missedEvidence(r)...)
	list = append(list, countEvidence(r)...)
	f, n := &r.boxFigures, &r.group.Base.Box
	if f.HasOtherBusy && n.HasOtherBusy {
		list = append(list, Evidence{What: EvidenceOtherCPUs, Value: figure(f.OtherBusy), Normal: figure(n.OtherBusy)})
	}
	list = append(list, rec.otherTasks(r)...)
	if f.HasSteal && n.HasSteal && (f.Steal > 0 || n.Steal > 0) {
		list = append(list, Evidence{What: EvidenceSteal, Value: figure(f.Steal), Normal: figure(n.Steal)})
	}
	if f.HasFreq && n.HasFreq {
		list = append(list, Evidence{What: EvidenceFrequency, Value: figure(f.FreqKHz), Normal: figure(n.FreqKHz)})
	}
	if r.foreign > r.group.Base.Foreign+minForeign {
		list = append(list, Evidence{What: EvidenceCold, Value: figure(float64(r.foreign)), Normal: figure(float64(r.group.Base.Foreign))})
	}
	if r.sampleGap > 0 {
		list = append(list, Evidence{What: EvidenceSampleGap, Value: figure(float64(r.sampleGap)), Normal: figure(float64(rec.gaps.period))})
	}
	return list
}

// minForeign is for how much longer than normal others must have had a CPU
// for its caches to count as cold, ns.
const minForeign = 100_000

func figure(v float64) *float64 { return &v }

// sampleKey counts cpu-clock samples by box interval, CPU and task.
type sampleKey struct {
	box  int
	cpu  int32
	task timeline.Ref
}

// maxOtherTasks bounds how many tasks of other CPUs are named.
const maxOtherTasks = 3

// otherTasks names what the samples of r's box interval saw on other CPUs.
func (rec *Recording) otherTasks(r *Request) []Evidence {
	counts := map[timeline.Ref]int64{}
	for k, n := range rec.samples[r.box.index] {
		if k.cpu != r.box.cpu {
			counts[k.task] += n
		}
	}
	var list []Evidence
	for ref, n := range counts {
		e := rec.taskEvidence(EvidenceOtherTask, ref)
		e.Count = n
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tid, b.Tid), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxOtherTasks)]
}
