package stats

import (
	"strings"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// stepName tells the columns that hold the time of a step: members of an
// object "steps", "steps_us" and so on. scale is ns in one unit.
func stepName(column string) (name string, isStep bool) {
	prefix, name, ok := strings.Cut(column, ".")
	if !ok {
		return "", false
	}
	_, isStep = stepUnits[prefix]
	return name, isStep
}

var stepUnits = map[string]float64{"steps": 1, "steps_ns": 1, "steps_us": 1e3, "steps_ms": 1e6, "steps_s": 1e9}

// StepsOf are the steps that Summarize compares, for each row that counts: the
// given ones, or those that the rows have.
func StepsOf(sets []*rows.Set, options Options) []Step {
	return allSteps(runsOf(sets, TailFraction), options.Steps)
}

func allSteps(runs []*run, given []Step) []Step {
	steps := []Step{}
	for _, step := range given {
		steps = append(steps, Step{step.Name, pick(runs, step.Ns)})
	}
	if given != nil {
		return steps
	}
	for _, column := range columnNames(runs) {
		name, ok := stepName(column)
		if !ok {
			continue
		}
		prefix, _, _ := strings.Cut(column, ".")
		step := Step{Name: name}
		for _, r := range runs {
			step.Ns = append(step.Ns, stepTimes(r.columns.Column(column), r.rows, stepUnits[prefix])...)
		}
		steps = append(steps, step)
	}
	return steps
}

func stepTimes(column *rows.Column, list []*rows.Row, unit float64) []int64 {
	times := make([]int64, len(list))
	for i, row := range list {
		times[i] = -1
		if column == nil {
			continue
		}
		if v, ok := column.Number(row); ok && v >= 0 && v*unit < 1<<62 {
			times[i] = int64(v * unit)
		}
	}
	return times
}
