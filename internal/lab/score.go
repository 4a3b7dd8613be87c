package lab

import (
	"maps"
	"slices"
)

// Named is what was said of one tail request.
type Named struct {
	ID      uint64
	Verdict string
	// Gap: the verdict is incomplete because the kernel did not report what
	// the request's thread did, and the recording says so.
	Gap bool
	// LateNS is for how long its CPUs were late to switch: the kernel counts
	// that as waiting, too.
	LateNS int64
}

// CauseScore counts how the requests with one cause were named.
type CauseScore struct {
	Cause    string
	Injected int
	InTail   int // of Injected
	Right    int // of InTail: the verdict is the cause
	Gaps     int // of InTail: the trace has a gap there, and the verdict says so
	// Disturbed ones of InTail were not named right, and by the kernel's own
	// counts there was another cause too.
	Disturbed int

	// Tail requests that got Cause as their verdict wrongly: they have
	// another injected cause; or none, and the lab alone can cause this; or
	// what the kernel counted on their thread contradicts it.
	Wrong int
	// Mistakes are what counts against recall or precision.
	Mistakes []Mistake
	// Natural ones had nothing injected and may well be right: the machine,
	// or another request that was under way, can do this to a request.
	Natural int

	Missed map[string]int // the verdicts of the other InTail
}

// Recall is the share of the injected requests in the tail that were named
// right, without those in gaps and those disturbed; ok is false where there is
// none.
func (s CauseScore) Recall() (share float64, ok bool) {
	return ratio(s.Right, s.InTail-s.Gaps-s.Disturbed)
}

// Precision is the share of the verdicts that were right, of those of which it
// is known; ok is false where there is none.
func (s CauseScore) Precision() (share float64, ok bool) {
	return ratio(s.Right, s.Right+s.Wrong)
}

func ratio(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// ScoreVerdicts compares the verdicts of the tail of a run with its truth.
func ScoreVerdicts(shape Shape, truth []Truth, tail []Named) []CauseScore {
	byID := map[uint64]*Truth{}
	scores := map[string]*CauseScore{}
	for i := range truth {
		t := &truth[i]
		byID[t.ID] = t
		if t.Cause == "" {
			continue
		}
		if scores[t.Cause] == nil {
			scores[t.Cause] = &CauseScore{Cause: t.Cause, Missed: map[string]int{}}
		}
		scores[t.Cause].Injected++
	}
	normal := normalOf(truth)
	for _, n := range tail {
		t := byID[n.ID]
		if t == nil {
			continue // warm-up
		}
		if t.Cause != "" {
			scores[t.Cause].found(t, n, normal)
		}
		if s := scores[n.Verdict]; s != nil && t.Cause != n.Verdict {
			if normal.mayBe(shape, t, n) {
				s.Natural++
			} else {
				s.Wrong++
				s.Mistakes = append(s.Mistakes, Mistake{t, n.Verdict})
			}
		}
	}
	out := make([]CauseScore, 0, len(scores))
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		out = append(out, *scores[name])
	}
	return out
}

// found counts the verdict of a request with the cause.
func (s *CauseScore) found(t *Truth, n Named, normal normal) {
	s.InTail++
	switch {
	case n.Verdict == s.Cause:
		s.Right++
	case n.Gap:
		s.Gaps++
	case normal.disturbed(t):
		s.Disturbed++
	default:
		s.Missed[n.Verdict]++
		s.Mistakes = append(s.Mistakes, Mistake{t, n.Verdict})
	}
}

// AddScores sums the scores of several runs.
func AddScores(runs ...[]CauseScore) []CauseScore {
	sum := map[string]*CauseScore{}
	for _, scores := range runs {
		for _, s := range scores {
			a := sum[s.Cause]
			if a == nil {
				a = &CauseScore{Cause: s.Cause, Missed: map[string]int{}}
				sum[s.Cause] = a
			}
			a.Injected += s.Injected
			a.InTail += s.InTail
			a.Right += s.Right
			a.Gaps += s.Gaps
			a.Disturbed += s.Disturbed
			a.Wrong += s.Wrong
			a.Natural += s.Natural
			a.Mistakes = append(a.Mistakes, s.Mistakes...)
			for v, n := range s.Missed {
				a.Missed[v] += n
			}
		}
	}
	out := make([]CauseScore, 0, len(sum))
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, *sum[name])
	}
	return out
}
