package report

import (
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// StatsOptions are those with which the statistics of res are made: the
// attributes of its requests and the steps that the service marked go along
// with what the rows tell.
func StatsOptions(res *correlate.Result, fraction float64) stats.Options {
	return statsOptions(res, res.Attributes(), fraction)
}

func statsOptions(res *correlate.Result, attributes []correlate.Attribute, fraction float64) stats.Options {
	return stats.Options{
		Fraction: fraction, Windows: !res.WithRows,
		Flags: attributeFlags(res, attributes), Steps: stepTimes(res),
	}
}

// addStats adds the statistics of the rows, or of the windows, and what they
// warn of.
func (x *Explain) addStats(res *correlate.Result, attributes []correlate.Attribute, fraction float64) {
	x.Attributes = []stats.Attribute{}
	if x.N == 0 {
		return
	}
	s, err := stats.Summarize(res.Sets, statsOptions(res, attributes, fraction))
	if err != nil {
		x.Warnings = append(x.Warnings, err.Error())
		return
	}
	x.Stats, x.Attributes = s, s.Attributes
	for _, w := range s.Warnings {
		if !slices.Contains(x.Warnings, w) {
			x.Warnings = append(x.Warnings, w)
		}
	}
}

// stepTimes are the running times of the marked steps of every request; nil
// where the service marked none. With several kinds of requests a step has its
// kind before its name.
func stepTimes(res *correlate.Result) []stats.Step {
	var steps []stats.Step
	at := map[*correlate.Group][]int{} // of each of the group's steps, in steps
	several, marked := kindsWithSteps(res) > 1, false
	for _, g := range res.Groups {
		for _, name := range g.Steps {
			marked = marked || !strings.HasPrefix(name, "(")
			if several {
				name = g.Kind + " " + name
			}
			i := slices.IndexFunc(steps, func(s stats.Step) bool { return s.Name == name })
			if i < 0 {
				i = len(steps)
				steps = append(steps, stats.Step{Name: name, Ns: make([]int64, len(res.Requests))})
			}
			at[g] = append(at[g], i)
		}
	}
	if !marked {
		return nil
	}
	for i, r := range res.Requests {
		for j := range steps {
			steps[j].Ns[i] = -1
		}
		for j, ns := range r.Steps {
			steps[at[r.Group()][j]].Ns[i] = ns
		}
	}
	return steps
}

func kindsWithSteps(res *correlate.Result) int {
	kinds := map[string]bool{}
	for _, g := range res.Groups {
		if len(g.Steps) > 0 {
			kinds[g.Kind] = true
		}
	}
	return len(kinds)
}
