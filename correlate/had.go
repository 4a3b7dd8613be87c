package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// Attribute is something that a request did or did not have. How common one is
// in the tail proves nothing until it is held against all requests.
type Attribute struct {
	Name string
	Has  func(*Request) bool
}

const (
	// noticeable is the time from which on a disturbance counts as had, ns.
	noticeable = 20_000
	// firstFraction is the share of a run that counts as its start.
	firstFraction = 0.01
)

// Attributes lists what is asked of every request, in the order of printing.
func (res *Result) Attributes() []Attribute {
	over := func(parts ...part.Part) func(*Request) bool {
		return func(r *Request) bool {
			var ns int64
			for _, p := range parts {
				ns += r.Parts[p]
			}
			return ns >= noticeable
		}
	}
	list := []Attribute{
		{"off-core >= 20 us", func(r *Request) bool { return r.Parts.OffCPU() >= noticeable }},
		{"preempted >= 20 us", over(part.Preempted)},
		{"waking >= 20 us", over(part.Waking)},
		{"throttled >= 20 us", over(part.Throttled)},
		{"lock >= 20 us", over(part.Lock)},
		{"io >= 20 us", over(part.IO, part.FaultIO)},
		{"net >= 20 us", over(part.Net)},
		{"queued >= 20 us", over(part.OtherRequest)},
		{"interrupted >= 20 us", over(part.IRQ, part.Softirq, part.NMI)},
		{"major fault", func(r *Request) bool { return r.MajorFaults > 0 }},
		{"more page faults than normal", func(r *Request) bool { return r.faults() > r.group.Base.Faults }},
	}
	for _, name := range res.spanNames() {
		list = append(list, Attribute{name + " overlap", func(r *Request) bool { return r.Spans > 0 && r.SpanName == name }})
	}
	return append(list,
		Attribute{"first 1% of the run", func(r *Request) bool { return r.first }},
		Attribute{"other CPUs busy >= 50%", func(r *Request) bool { return r.boxFigures.HasOtherBusy && r.boxFigures.OtherBusy >= 0.5 }},
		Attribute{"steal >= 1%", func(r *Request) bool { return r.boxFigures.HasSteal && r.boxFigures.Steal >= 0.01 }},
		Attribute{"failed", func(r *Request) bool { return r.Failed() }},
	)
}

func (res *Result) spanNames() []string {
	seen := map[string]bool{}
	var names []string
	for i := range res.Spans {
		if n := res.Spans[i].Kind; !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// Had lists the names of the attributes that r has.
func Had(r *Request, attributes []Attribute) []string {
	list := []string{}
	for _, a := range attributes {
		if a.Has(r) {
			list = append(list, a.Name)
		}
	}
	return list
}

// markRunStart counts every request's time from the first request of its run
// that is not warm-up, and marks those in the first 1% of it.
func (res *Result) markRunStart() {
	byRun := map[string][]*Request{}
	for _, r := range res.Requests {
		if !r.Warmup {
			byRun[r.Run] = append(byRun[r.Run], r)
		}
	}
	for _, list := range byRun {
		slices.SortStableFunc(list, func(a, b *Request) int { return cmp.Compare(a.Begin, b.Begin) })
		n := stats.TailCount(len(list), firstFraction)
		for i, r := range list {
			r.first = i < n
			r.SinceStart = int64(r.Begin - list[0].Begin)
		}
	}
}
