package report

import (
	"fmt"
	"io"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// CompareText writes a comparison for a person, its notes first.
func CompareText(w io.Writer, c *stats.Comparison) error {
	p := &printer{w: w}
	p.warnings(c.Notes)
	p.printf("%d paired rounds; told apart = all differences of one sign and ranges that do not overlap (by noise alone in %.2g%% of comparisons)\n",
		c.Rounds, 100*c.Chance)
	lines := []string{"percentile\tbase\tarm\tmedian difference\t"}
	for _, d := range c.Percentiles {
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%s\t%s", d.Name, span(d.Base), span(d.Arm), signed(d.Median), d.Verdict()))
	}
	p.table(lines)
	return p.err
}

// span prints the range of values.
func span(values []int64) string {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	if low == high {
		return Duration(low)
	}
	return Duration(low) + " to " + Duration(high)
}
