package lab

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// scoreColumns are the heads of a table of scores.
var scoreColumns = []string{
	"cause", "injected", "in tail", "right", "in gaps", "disturbed", "wrong", "natural", "recall", "precision", "named instead",
}

func (s CauseScore) columns() []string {
	list := []string{s.Cause}
	for _, n := range []int{s.Injected, s.InTail, s.Right, s.Gaps, s.Disturbed, s.Wrong, s.Natural} {
		list = append(list, fmt.Sprint(n))
	}
	return append(list, share(s.Recall()), share(s.Precision()), s.instead())
}

// WriteScores prints scores as a table, with what was said instead where a
// cause was missed.
func WriteScores(w io.Writer, scores []CauseScore) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(scoreColumns, "\t"))
	for _, s := range scores {
		fmt.Fprintln(tw, strings.Join(s.columns(), "\t"))
	}
	return tw.Flush()
}

// ScoresMarkdown formats scores as a table in Markdown.
func ScoresMarkdown(scores []CauseScore) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(scoreColumns)
	line(slices.Concat([]string{"---"}, slices.Repeat([]string{"---:"}, len(scoreColumns)-2), []string{"---"}))
	for _, s := range scores {
		line(s.columns())
	}
	return b.String()
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
	return fmt.Sprintf("%.3f", f)
}
