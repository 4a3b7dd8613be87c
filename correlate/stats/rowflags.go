package stats

import (
	"math"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

const (
	// maxFlagValues is how many values a text column may have to be held
	// against the tail value by value.
	maxFlagValues = 20
	// pauseGaps is how many times the median gap between sends makes a pause.
	pauseGaps = 10
)

// FlagsOf are the flags that Summarize holds against the tail, for each row that
// counts: the given ones, and what the rows themselves tell of a request, which
// is its place in the run, how it ended, and the extra columns.
func FlagsOf(sets []*rows.Set, options Options) []Flag {
	return allFlags(runsOf(sets, TailFraction), options.Flags)
}

// allFlags: of two flags with one name the given one is taken.
func allFlags(runs []*run, given []Flag) []Flag {
	var first, paused, failed []bool
	for _, r := range runs {
		first = append(first, firstPart(len(r.rows))...)
		paused = append(paused, afterPause(r)...)
		for _, row := range r.rows {
			failed = append(failed, row.Failed())
		}
	}
	flags := []Flag{{"first 1% of the run", first}}
	for _, flag := range []Flag{{"after a pause", paused}, {"failed", failed}} {
		if slices.Contains(flag.Has, true) {
			flags = append(flags, flag)
		}
	}
	var all []Flag
	for _, flag := range given {
		all = append(all, Flag{flag.Name, pick(runs, flag.Has)})
	}
	for _, flag := range append(flags, columnFlags(runs)...) {
		if !slices.ContainsFunc(given, func(g Flag) bool { return g.Name == flag.Name }) {
			all = append(all, flag)
		}
	}
	return all
}

// pick takes the values of the rows that count out of those of all rows.
func pick[T any](runs []*run, values []T) (picked []T) {
	for _, r := range runs {
		for _, i := range r.index {
			picked = append(picked, values[i])
		}
	}
	return picked
}

func firstPart(n int) []bool {
	flags := make([]bool, n)
	for i := range TailCount(n, .01) {
		flags[i] = true
	}
	return flags
}

// afterPause flags requests that were sent long after the one before had been
// answered.
func afterPause(r *run) []bool {
	flags := make([]bool, len(r.send))
	gaps := make([]int64, len(r.send))
	for i := 1; i < len(r.send); i++ {
		gaps[i] = r.send[i] - r.send[i-1]
	}
	usual := PercentilesOf(gaps).P50
	for i := 1; i < len(r.send); i++ {
		flags[i] = gaps[i] > pauseGaps*max(usual, 1) && r.send[i]-r.recv[i-1] > gaps[i]/2
	}
	return flags
}

// columnFlags makes flags of extra columns: truth values and numbers that are
// mostly 0 by not being 0, other columns with few values by each value.
func columnFlags(runs []*run) (flags []Flag) {
	for _, name := range columnNames(runs) {
		if _, isStep := stepName(name); isStep {
			continue
		}
		if tellsTime(runs, name) {
			continue
		}
		values, numeric := columnValues(runs, name)
		if numeric {
			has := flagsOf(values, func(v string) bool { return v != "" && v != "0" && v != "false" })
			if set := len(indicesOf(has)); set > 0 && 2*set <= len(values) {
				flags = append(flags, Flag{name, has})
				continue
			}
		}
		for _, value := range fewValues(values) {
			flags = append(flags, Flag{name + " = " + value, flagsOf(values, func(v string) bool { return v == value })})
		}
	}
	return flags
}

// tellsTime reports whether a column only grows in the order of sending: a
// counter or a clock, whose values are places in the run and no attributes. A
// column that grows once may be one, such as a cache that is warm from then on.
func tellsTime(runs []*run, name string) bool {
	steps := 0
	for _, r := range runs {
		column := r.columns.Column(name)
		if column == nil || !column.Numeric() {
			return false
		}
		last := math.Inf(-1)
		for i, row := range r.rows {
			v, ok := column.Number(row)
			if !ok || v < last {
				return false
			}
			if i > 0 && v > last {
				steps++
			}
			last = v
		}
	}
	return steps > len(runs)
}

func flagsOf(values []string, has func(string) bool) []bool {
	flags := make([]bool, len(values))
	for i, v := range values {
		flags[i] = has(v)
	}
	return flags
}

// fewValues lists the distinct values; none where there is only one or more
// than maxFlagValues.
func fewValues(values []string) (distinct []string) {
	for _, v := range values {
		if v == "" || slices.Contains(distinct, v) {
			continue
		}
		if distinct = append(distinct, v); len(distinct) > maxFlagValues {
			return nil
		}
	}
	if len(distinct) < 2 {
		return nil
	}
	slices.Sort(distinct)
	return distinct
}

func columnNames(runs []*run) (names []string) {
	for _, r := range runs {
		for _, c := range r.columns.Columns {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// columnValues are the values of all rows as text, "" for none.
func columnValues(runs []*run, name string) (values []string, numeric bool) {
	numeric = true
	for _, r := range runs {
		column := r.columns.Column(name)
		numeric = numeric && (column == nil || column.Numeric())
		for _, row := range r.rows {
			text := ""
			if column != nil {
				text, _ = column.Text(row)
			}
			values = append(values, text)
		}
	}
	return values, numeric
}
