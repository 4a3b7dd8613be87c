package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// NoStack stands for the calls of a stack that was not taken or is not in the
// file.
const NoStack = "[no stack]"

// Profile is in which functions two sets of requests spent their time, on the
// CPU or off it.
type Profile struct {
	OfName    string // "the tail"
	RestName  string
	OffCPU    bool
	Functions []Function // the largest difference of time a request first
	of, rest  *profileSide
	res       *correlate.Result
}

// Function is what one function had of either set's samples, or of its time
// off the CPU.
type Function struct {
	Name     string
	Module   string
	Of, Rest Weights
	// Chance is that of a difference at least this large, in either
	// direction, where there is none: of the larger one, by Fisher's test on
	// samples. NaN off the CPU, where nothing is sampled.
	Chance float64
}

// Weights are samples, or ns off the CPU: in the function itself, and with
// what it calls.
type Weights struct{ Self, Total int64 }

// profileSide is one set of requests.
type profileSide struct {
	requests int
	weights  map[uint64]int64 // by stack
	counts   map[uint64]int64 // samples or waits
	sum, n   int64
}

// NewProfile makes the profile that res was analyzed for.
func NewProfile(res *correlate.Result, offCPU bool, ofName, restName string) *Profile {
	p := &Profile{
		OfName: ofName, RestName: restName, OffCPU: offCPU, res: res,
		of: newProfileSide(&res.Profile.Of, offCPU), rest: newProfileSide(&res.Profile.Rest, offCPU),
	}
	p.Functions = p.functions()
	return p
}

func newProfileSide(s *correlate.Stacks, offCPU bool) *profileSide {
	side := &profileSide{requests: s.Requests, weights: s.CPU, counts: s.CPU}
	if offCPU {
		side.weights, side.counts = map[uint64]int64{}, map[uint64]int64{}
		for id, w := range s.Off {
			side.weights[id], side.counts[id] = w.Ns, w.N
		}
	}
	for id, w := range side.weights {
		side.sum += w
		side.n += side.counts[id]
	}
	return side
}

// Shares are the parts of both sets' samples or time that a function has,
// with what it calls.
func (p *Profile) Shares(f *Function) (of, rest float64) {
	return p.of.share(f.Of.Total), p.rest.share(f.Rest.Total)
}

type functionKey struct{ name, module string }

func (p *Profile) functions() []Function {
	all := map[functionKey]*Function{}
	for _, side := range []struct {
		stacks *profileSide
		of     func(*Function) *Weights
	}{{p.of, func(f *Function) *Weights { return &f.Of }}, {p.rest, func(f *Function) *Weights { return &f.Rest }}} {
		for id, w := range side.stacks.weights {
			seen := map[functionKey]bool{}
			for i, f := range p.frames(id) {
				k := functionKey{f.Name(), f.Module}
				if all[k] == nil {
					all[k] = &Function{Name: k.name, Module: k.module, Chance: math.NaN()}
				}
				to := side.of(all[k])
				if i == 0 {
					to.Self += w
				}
				if !seen[k] { // recursion counts once
					to.Total += w
					seen[k] = true
				}
			}
		}
	}
	list := make([]Function, 0, len(all))
	for _, f := range all {
		if f.Name == eventfile.FrameMissing {
			continue
		}
		if !p.OffCPU {
			f.Chance = p.chance(f)
		}
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Function) int {
		return cmp.Or(cmp.Compare(p.rank(&b), p.rank(&a)), cmp.Compare(b.Of.Total, a.Of.Total),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Module, b.Module))
	})
	return list
}

// frames are the calls of a stack, the innermost first, never none.
func (p *Profile) frames(id uint64) []eventfile.Frame {
	s := p.res.Stack(id)
	if s == nil || len(s.Frames) == 0 {
		return []eventfile.Frame{{Symbol: NoStack}}
	}
	return s.Frames
}

// share of a side's weight.
func (s *profileSide) share(w int64) float64 {
	if s.sum == 0 {
		return 0
	}
	return float64(w) / float64(s.sum)
}

// everywhere is the share of both sets from which on a function tells nothing:
// it is what everything is called from, or ends in.
const everywhere = 0.95

// rank orders functions by how much more or less time a request spent in them.
func (p *Profile) rank(f *Function) float64 {
	of, rest := p.of.each(f.Of.Total), p.rest.each(f.Rest.Total)
	if p.of.share(f.Of.Total) >= everywhere && (p.rest.sum == 0 || p.rest.share(f.Rest.Total) >= everywhere) {
		of, rest = p.of.each(f.Of.Self), p.rest.each(f.Rest.Self)
	}
	return math.Abs(of - rest)
}

// each is the weight for one request of the side.
func (s *profileSide) each(w int64) float64 { return float64(w) / float64(max(s.requests, 1)) }

// difference is the larger one of a function's shares, and the weights that
// make it.
func (p *Profile) difference(f *Function) (share float64, of, rest int64) {
	self := math.Abs(p.of.share(f.Of.Self) - p.rest.share(f.Rest.Self))
	total := math.Abs(p.of.share(f.Of.Total) - p.rest.share(f.Rest.Total))
	if self > total {
		return self, f.Of.Self, f.Rest.Self
	}
	return total, f.Of.Total, f.Rest.Total
}

func (p *Profile) chance(f *Function) float64 {
	_, of, rest := p.difference(f)
	t := stats.Table{
		TailWith: int(of), TailWithout: int(p.of.n - of),
		RestWith: int(rest), RestWithout: int(p.rest.n - rest),
	}
	_, twoSided := t.Fisher()
	return twoSided
}
