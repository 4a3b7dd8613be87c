package correlate

import (
	"slices"

	"github.com/tailtrace/tailtrace/correlate/part"
)

// Baseline is what a normal request of a group looks like: medians over the
// requests outside the tail.
type Baseline struct {
	N       int // requests it is taken from; 0: there were none
	Latency int64
	Parts   part.Times
	Steps   []int64 // by Group.Steps; -1: no normal request has the step
	Faults  int64   // page faults
	Spans   int64   // ns in runtime spans
	Foreign int64   // ns others had its CPU before it
	Away    int64   // ns its CPU was away
	Box     BoxFigures
	Figures figures
}

// setBaselines takes every group's medians. A group whose requests are all in
// the tail is compared with all the requests of its kind, or failing that of
// the recording.
func setBaselines(reqs []*Request, gs groups) {
	normal := map[*Group][]*Request{}
	byKind := map[string][]*Request{}
	var all []*Request
	for _, r := range reqs {
		if r.Tail || r.Warmup || r.Window == nil {
			continue
		}
		normal[r.group] = append(normal[r.group], r)
		byKind[r.Kind] = append(byKind[r.Kind], r)
		all = append(all, r)
	}
	for _, g := range gs {
		from := normal[g]
		if len(from) == 0 {
			from = byKind[g.Kind]
		}
		if len(from) == 0 {
			from = all
		}
		g.Base = baseline(from, g)
	}
}

func baseline(reqs []*Request, g *Group) Baseline {
	b := Baseline{N: len(reqs)}
	pick := func(f func(*Request) int64) int64 {
		v := make([]int64, len(reqs))
		for i, r := range reqs {
			v[i] = f(r)
		}
		return median(v)
	}
	b.Latency = pick((*Request).Latency)
	for p := range part.Count {
		b.Parts[p] = pick(func(r *Request) int64 { return r.Parts[p] })
	}
	b.Faults = pick((*Request).faults)
	b.Spans = pick(func(r *Request) int64 { return r.Spans })
	b.Foreign = pick(func(r *Request) int64 { return r.foreign })
	b.Away = pick((*Request).cpuAway)
	for i := range g.Steps {
		b.Steps = append(b.Steps, stepMedian(reqs, g, i))
	}
	b.Box = normalBox(reqs)
	b.Figures = normalFigures(reqs)
	return b
}

func stepMedian(reqs []*Request, g *Group, i int) int64 {
	var v []int64
	for _, r := range reqs {
		if r.group == g && i < len(r.Steps) && r.Steps[i] >= 0 {
			v = append(v, r.Steps[i])
		}
	}
	if len(v) == 0 {
		return -1
	}
	return median(v)
}

// median is the lower of the two middle values; it reorders v. 0 without any.
func median(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

func (r *Request) faults() int64 { return int64(r.MinorFaults) + int64(r.MajorFaults) }
