package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// CompareSchema names the layout of Compare.
const CompareSchema = "tailtrace.compare/1"

// Round is one run of one side of a comparison.
type Round struct {
	File        string              `json:"file"`
	SHA256      string              `json:"sha256"`
	Run         string              `json:"run"`
	N           int                 `json:"n"`
	Percentiles stats.Percentiles   `json:"percentiles_ns"`
	Labels      map[string][]string `json:"labels"`
	Fraction    float64             `json:"tail_fraction,omitempty"`
	// Verdicts are the shares of the tail's requests; nil without a
	// recording.
	Verdicts map[string]float64 `json:"verdicts,omitempty"`
}

// Compare is a base held against an arm, round by round.
type Compare struct {
	Schema string `json:"schema"`
	stats.Comparison
	Base     []Round             `json:"base"`
	Arm      []Round             `json:"arm"`
	Verdicts []VerdictDifference `json:"verdicts,omitempty"`
	Shared   []stats.Shared      `json:"shared,omitempty"` // of all rounds' tails
}

// VerdictDifference is the share of one verdict in each round's tail.
type VerdictDifference struct {
	Verdict   string    `json:"verdict"`
	Base      []float64 `json:"base"`
	Arm       []float64 `json:"arm"`
	Median    float64   `json:"median_difference"`
	ToldApart bool      `json:"told_apart"`
}

// NewCompare compares rounds, which pair up in their order.
func NewCompare(base, arm []Round) (*Compare, error) {
	c, err := stats.Compare(percentilesOf(base), percentilesOf(arm))
	if err != nil {
		return nil, err
	}
	out := &Compare{Schema: CompareSchema, Comparison: *c, Base: base, Arm: arm}
	out.noteRounds()
	out.compareVerdicts()
	return out, nil
}

func percentilesOf(rounds []Round) (list []stats.Percentiles) {
	for _, r := range rounds {
		list = append(list, r.Percentiles)
	}
	return list
}

func (c *Compare) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// noteRounds says what keeps rounds from being compared.
func (c *Compare) noteRounds() {
	all := slices.Concat(c.Base, c.Arm)
	same := 0
	for i, r := range c.Base {
		if a := c.Arm[i]; a.SHA256 == r.SHA256 && a.Run == r.Run {
			same++
		}
	}
	if same > 0 {
		c.note("in %d of %d rounds base and arm are the same run of the same file", same, c.Rounds)
	}
	for _, q := range stats.Quantiles {
		only := 0
		for _, r := range all {
			if slices.Contains(r.Labels[q.Name], stats.LabelMax) {
				only++
			}
		}
		if only > 0 {
			c.note("in %d of %d runs %s is nothing but the run's largest value", only, len(all), q.Name)
		}
	}
}

// compareVerdicts needs a recording of every round.
func (c *Compare) compareVerdicts() {
	names := map[string]bool{correlate.VerdictUnexplained: true} // always told
	with := 0
	fractions := map[float64]bool{}
	for _, r := range slices.Concat(c.Base, c.Arm) {
		if r.Verdicts != nil {
			with++
			fractions[r.Fraction] = true
		}
		for name := range r.Verdicts {
			names[name] = true
		}
	}
	switch {
	case with == 0:
		return
	case with < 2*c.Rounds:
		c.note("only %d of %d runs have verdicts: they are not compared", with, 2*c.Rounds)
		return
	case len(fractions) > 1:
		c.note("the tails are of different shares: verdicts are not compared")
		return
	}
	for name := range maps.Keys(names) {
		d := VerdictDifference{Verdict: name}
		for i := range c.Base {
			d.Base, d.Arm = append(d.Base, c.Base[i].Verdicts[name]), append(d.Arm, c.Arm[i].Verdicts[name])
		}
		d.Median, d.ToldApart = stats.Apart(d.Base, d.Arm)
		c.Verdicts = append(c.Verdicts, d)
	}
	slices.SortFunc(c.Verdicts, func(a, b VerdictDifference) int {
		return cmp.Or(cmp.Compare(slices.Max(b.Base), slices.Max(a.Base)), cmp.Compare(a.Verdict, b.Verdict))
	})
}

// Text writes the comparison for a person, its notes first.
func (c *Compare) Text(w io.Writer) error {
	p := &printer{w: w}
	p.warnings(c.Notes)
	p.printf("paired rounds: %d; told apart = all differences of one sign and ranges that do not overlap (by noise alone in %.3g%% of comparisons)\n",
		c.Rounds, 100*c.Chance)
	lines := []string{"percentile\tbase\tarm\tmedian difference"}
	for _, d := range c.Percentiles {
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%s\t%s", d.Name, span(d.Base, Duration), span(d.Arm, Duration), signed(d.Median), apart(d.ToldApart)))
	}
	p.table(lines)
	if len(c.Verdicts) > 0 {
		lines = []string{"share of the tail\tbase\tarm\tmedian difference"}
		for _, d := range c.Verdicts {
			lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%+.1f points\t%s", Printable(d.Verdict), span(d.Base, percent), span(d.Arm, percent), 100*d.Median, apart(d.ToldApart)))
		}
		p.printf("\n")
		p.table(lines)
	}
	p.shared(c.Shared)
	return p.err
}

func (p *printer) shared(list []stats.Shared) {
	if len(list) == 0 {
		return
	}
	lines := []string{"shared with another run's tail\tof the tail\tof all\truns beyond chance"}
	for _, s := range list {
		lines = append(lines, fmt.Sprintf("  same %s\t%.1f%%\t%.1f%%\t%d of %d pairs", Printable(s.What), 100*s.TailShare, 100*s.AllShare, s.Beyond, len(s.Pairs)))
	}
	p.printf("\n")
	p.table(lines)
}

func apart(told bool) string {
	if told {
		return "told apart"
	}
	return "cannot be told apart from run-to-run noise"
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// span prints the range of values.
func span[T cmp.Ordered](values []T, text func(T) string) string {
	low, high := slices.Min(values), slices.Max(values)
	if text(low) == text(high) {
		return text(low)
	}
	return text(low) + " to " + text(high)
}
