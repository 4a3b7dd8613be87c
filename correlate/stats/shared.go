package stats

import (
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// Shared tells how far the tails of several runs consist of the same requests:
// those at the same position, or with the same key. Shares are medians over all
// pairs of runs.
type Shared struct {
	What      string       `json:"what"` // "position", or the name of the column
	TailShare float64      `json:"tail_share"`
	AllShare  float64      `json:"all_share"` // what chance would give
	Beyond    int          `json:"pairs_beyond_chance"`
	Pairs     []SharedPair `json:"pairs"`
}

// SharedPair is two runs: of the requests in To's tail, TailShare have their
// position or key in From's tail, of all of To's requests AllShare.
type SharedPair struct {
	From      string  `json:"from"`
	To        string  `json:"to"`
	TailShare float64 `json:"tail_share"`
	AllShare  float64 `json:"all_share"`
	P         float64 `json:"p"` // by circular shift, adjusted for the number of pairs
}

// significant is the adjusted p-value from which on a pair is beyond chance.
const significant = .05

// SharedTails compares the tails of all pairs of runs by position, and with a
// column also by its values.
func SharedTails(sets []*rows.Set, fraction float64, column string) []Shared {
	runs := runsOf(sets, fraction)
	list := []Shared{sharedOf("position", runs, func(a, b *run) Attribute {
		n := min(len(a.tail), len(b.tail))
		return Attributes(b.tail[:n], []Flag{{"", a.tail[:n]}})[0]
	})}
	if column != "" {
		list = append(list, sharedOf(column, runs, func(a, b *run) Attribute { return sharedKeys(a, b, column) }))
	}
	return list
}

func sharedOf(what string, runs []*run, compare func(a, b *run) Attribute) Shared {
	s := Shared{What: what, Pairs: []SharedPair{}}
	var p, tail, all []float64
	for i, a := range runs {
		for _, b := range runs[i+1:] {
			x := compare(a, b)
			p, tail, all = append(p, x.PShift), append(tail, x.TailShare), append(all, x.AllShare)
			s.Pairs = append(s.Pairs, SharedPair{From: a.name, To: b.name, TailShare: x.TailShare, AllShare: x.AllShare})
		}
	}
	if len(p) == 0 {
		return s
	}
	for i, adjusted := range Adjust(p) {
		s.Pairs[i].P = adjusted
		if adjusted <= significant {
			s.Beyond++
		}
	}
	s.TailShare, s.AllShare = median(tail), median(all)
	return s
}

// sharedKeys tells how often requests are in b's tail when their key, the value
// of a column like a customer, occurs in a's tail.
func sharedKeys(a, b *run, column string) Attribute {
	slow := a.keys(column)
	has := b.keys(column)
	flags := make([]bool, len(has))
	inTail := map[string]bool{}
	for i, key := range slow {
		if a.tail[i] && key != "" {
			inTail[key] = true
		}
	}
	for i, key := range has {
		flags[i] = inTail[key]
	}
	return Attributes(b.tail, []Flag{{"", flags}})[0]
}

// keys are the values of a column as text, "" for none.
func (r *run) keys(column string) []string {
	keys := make([]string, len(r.rows))
	if c := r.columns.Column(column); c != nil {
		for i, row := range r.rows {
			keys[i], _ = c.Text(row)
		}
	}
	return keys
}

// HasColumn reports whether one of sets has the column.
func HasColumn(sets []*rows.Set, column string) bool {
	return slices.ContainsFunc(sets, func(s *rows.Set) bool { return s.Column(column) != nil })
}

// Repeats summarizes each run on its own, without the bootstrap.
func Repeats(sets []*rows.Set) []RunSummary {
	var list []RunSummary
	for _, r := range runsOf(sets, TailFraction) {
		list = append(list, RunSummary{
			Run: r.name, N: len(r.rows), Percentiles: r.percentiles,
			Labels: Labels(len(r.rows)), Intervals: intervalsOf(r.sorted),
		})
	}
	return list
}
