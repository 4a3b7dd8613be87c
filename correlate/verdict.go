package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/part"
)

// Verdicts beyond those named as a part.
const (
	VerdictMixed       = "mixed"
	VerdictIncomplete  = "incomplete"
	VerdictQueued      = "queued"
	VerdictSlowStep    = "slow-step"
	VerdictSlowCore    = "slow-core"
	VerdictMoreWork    = "more-work"
	VerdictUnexplained = "unexplained"
)

// Explanation is what is said of one request of the tail.
type Explanation struct {
	Verdict  string
	Excess   part.Times  // part minus baseline, as measured; may be negative
	Mixed    []part.Part // VerdictMixed: the parts that together have half
	Evidence []Evidence
}

// half is the share of the excess from which on a cause has the verdict.
const half = 0.5

// explain gives r its verdict. Its group's baseline must be set.
func (rec *Recording) explain(r *Request) Explanation {
	base := &r.group.Base
	var x Explanation
	for p := range x.Excess {
		x.Excess[p] = r.Parts[p] - base.Parts[p]
	}
	booked := x.Excess
	trap := rec.faultTrap(r, &booked)
	r.unseenSwitches(&booked)
	order, total := rank(&booked)
	lead := order[0]
	share := func(p part.Part) float64 { return float64(booked[p]) / float64(total) }
	switch {
	case total <= 0:
		x.Verdict = VerdictUnexplained
	case r.SpanName != "" && float64(r.Spans-base.Spans) >= half*float64(total):
		x.Verdict = r.SpanName
	case share(part.Unknown) >= half:
		x.Verdict = VerdictIncomplete
	case share(lead) < half:
		x.Verdict = VerdictMixed
		x.Mixed = untilHalf(order, &booked, total)
	case lead == part.OtherRequest:
		x.Verdict = VerdictQueued
	case lead == part.Running:
		x.Verdict = runningVerdict(r, booked[part.Running])
	default:
		x.Verdict = lead.String()
	}
	x.Evidence = rec.evidence(r, &x, trap)
	return x
}

// rank orders the parts by excess and sums those above their baseline, so that
// shares are of what was added and never exceed one.
func rank(excess *part.Times) (order []part.Part, total int64) {
	for p := range part.Count {
		order = append(order, part.Part(p))
		total += max(excess[p], 0)
	}
	slices.SortStableFunc(order, func(a, b part.Part) int { return cmp.Compare(excess[b], excess[a]) })
	return order, total
}

func untilHalf(order []part.Part, excess *part.Times, total int64) (list []part.Part) {
	var sum int64
	for _, p := range order {
		if excess[p] <= 0 || float64(sum) >= half*float64(total) {
			break
		}
		sum += excess[p]
		list = append(list, p)
	}
	return list
}

// runningVerdict looks further where the time was spent running, over ns
// beyond normal. One step that did it is said before why: whether it had more
// to do or was slow at it, the counts tell beside it.
func runningVerdict(r *Request, over int64) string {
	s := stepStretch(r)
	switch {
	case r.wasAway(over):
		return VerdictSlowCore
	case s.slowStep():
		return VerdictSlowStep
	case moreWork(r):
		return VerdictMoreWork
	case s.slowCore(r.stepCount()):
		return VerdictSlowCore
	}
	return VerdictUnexplained
}

func (r *Request) stepCount() (n int) {
	for i, ns := range r.Steps {
		if ns >= 0 && i < len(r.group.Base.Steps) && r.group.Base.Steps[i] > 0 {
			n++
		}
	}
	return n
}

// faultTrap moves the estimated cost of trapping into page faults and back,
// which their events do not enclose, from running to fault. It returns the
// estimate, ns: the faults beyond the normal number times the measured cost.
func (rec *Recording) faultTrap(r *Request, excess *part.Times) int64 {
	more := r.faults() - r.group.Base.Faults
	if rec.Header.FaultTrap <= 0 || more <= 0 || excess[part.Running] <= 0 {
		return 0
	}
	ns := min(more*rec.Header.FaultTrap, excess[part.Running])
	excess[part.Running] -= ns
	excess[part.Fault] += ns
	return ns
}
