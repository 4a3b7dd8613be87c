package lab

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// CauseScore counts how the requests with one cause were named.
type CauseScore struct {
	Cause    string
	Injected int
	InTail   int // of Injected
	Right    int // of InTail: the verdict is the cause

	// Tail requests that got Cause as their verdict wrongly: because they have
	// another injected cause, or none and the lab alone can cause this.
	Wrong int
	// Natural ones had nothing injected and may well be right: the machine
	// can do this to a request on its own.
	Natural int

	Missed map[string]int // the verdicts of the InTail that are not Right
}

// Recall is the share of the injected requests in the tail that were named
// right; ok is false where there is none.
func (s CauseScore) Recall() (share float64, ok bool) {
	return ratio(s.Right, s.InTail)
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

// ScoreVerdicts compares verdicts with the truth over the tail requests. Both
// maps are keyed by request id.
func ScoreVerdicts(truth []Truth, verdict map[uint64]string, inTail map[uint64]bool) []CauseScore {
	scores := make(map[string]*CauseScore)
	cause := make(map[uint64]string)
	for _, t := range truth {
		cause[t.ID] = t.Cause
		s := scores[t.Cause]
		if s == nil {
			s = &CauseScore{Cause: t.Cause, Missed: map[string]int{}}
			scores[t.Cause] = s
		}
		s.Injected++
		if !inTail[t.ID] {
			continue
		}
		s.InTail++
		if v := verdict[t.ID]; v == t.Cause {
			s.Right++
		} else {
			s.Missed[v]++
		}
	}
	for id, v := range verdict {
		s := scores[v]
		if s == nil || !inTail[id] || cause[id] == v {
			continue
		}
		if c := findCause(v); cause[id] == "" && c != nil && c.natural {
			s.Natural++
		} else {
			s.Wrong++
		}
	}
	out := make([]CauseScore, 0, len(scores))
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		out = append(out, *scores[name])
	}
	return out
}

// WriteScores prints scores as a table, with what was said instead where a
// cause was missed.
func WriteScores(w io.Writer, scores []CauseScore) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "cause\tinjected\tin tail\tright\twrong\tnatural\trecall\tprecision\tnamed instead")
	for _, s := range scores {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", s.Cause, s.Injected, s.InTail,
			s.Right, s.Wrong, s.Natural, share(s.Recall()), share(s.Precision()), s.instead())
	}
	return tw.Flush()
}

func (s CauseScore) instead() string {
	var named []string
	for _, v := range slices.Sorted(maps.Keys(s.Missed)) {
		named = append(named, fmt.Sprintf("%s %d", v, s.Missed[v]))
	}
	if len(named) == 0 {
		return "-"
	}
	return strings.Join(named, ", ")
}

func share(f float64, ok bool) string {
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.2f", f)
}
