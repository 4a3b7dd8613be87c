package correlate

import "github.com/tailtrace/tailtrace/correlate/part"

// stretch compares a request's steps with normal ones, running time only.
type stretch struct {
	step     int     // the step with the largest excess; -1: no steps to compare
	excess   int64   // its excess, ns
	share    float64 // of the excess in running
	own      float64 // its running time over the median
	others   float64 // all other steps' together
	total    float64 // all steps' together
	together float64 // share of normal time in steps that are stretched too
}

// together demands this much of a step's stretch, against the whole request's,
// to count the step as stretched with the rest.
const alongFraction = 1.0 / 3

func stepStretch(r *Request) stretch {
	base := &r.group.Base
	s := stretch{step: -1}
	var sum, normal int64
	for i, ns := range r.Steps {
		if ns < 0 || i >= len(base.Steps) {
			continue
		}
		med := max(base.Steps[i], 0)
		sum, normal = sum+ns, normal+med
		if s.step < 0 || ns-med > s.excess {
			s.step, s.excess = i, ns-med
		}
	}
	if s.step < 0 || normal == 0 {
		return stretch{step: -1}
	}
	own := max(base.Steps[s.step], 0)
	s.total = float64(sum) / float64(normal)
	s.own = ratio(r.Steps[s.step], own)
	s.others = ratio(sum-r.Steps[s.step], normal-own)
	if over := r.Parts[part.Running] - base.Parts[part.Running]; over > 0 {
		s.share = float64(s.excess) / float64(over)
	}
	s.together = stretchedShare(r, s.total, normal)
	return s
}

// stretchedShare is the share of normal running time in steps that are
// stretched along with the whole.
func stretchedShare(r *Request, total float64, normal int64) float64 {
	var along int64
	for i, ns := range r.Steps {
		if i >= len(r.group.Base.Steps) || ns < 0 {
			continue
		}
		med := r.group.Base.Steps[i]
		if med > 0 && ratio(ns, med)-1 >= (total-1)*alongFraction {
			along += med
		}
	}
	return float64(along) / float64(normal)
}

// ratio of a to b; where b is nothing, any a is a very long stretch.
func ratio(a, b int64) float64 {
	if b <= 0 {
		if a <= 0 {
			return 1
		}
		return 1e6
	}
	return float64(a) / float64(b)
}

// slowStep: one step holds at least half of the excess and is stretched more
// than twice as much as the others.
func (s *stretch) slowStep() bool {
	return s.step >= 0 && s.share >= 0.5 && s.own-1 > 2*max(s.others-1, 0)
}

// slowCore: nearly all of the request is stretched together. One step alone
// cannot tell.
func (s *stretch) slowCore(steps int) bool {
	return s.step >= 0 && steps > 1 && s.total > 1 && s.together >= 0.75
}
