package stats

import "github.com/tailtrace/tailtrace/correlate/rows"

// SharedPositions tells how often the request at a place in one run is in the
// tail when the request at the same place of another run is: work that is slow
// by itself would be slow at the same places. Warm-up rows are left out. The
// tails must be of these rows.
func SharedPositions(a, b []rows.Row, tailA, tailB []bool) Attribute {
	inA, inB := measuredFlags(a, tailA), measuredFlags(b, tailB)
	n := min(len(inA), len(inB))
	return Attributes(inB[:n], []Flag{{"same position in the other tail", inA[:n]}})[0]
}

// SharedKeys tells how often requests are in b's tail when their key, the
// value of a column like a customer, occurs in a's tail.
func SharedKeys(a, b *rows.Set, tailA, tailB []bool, column string) Attribute {
	slow := map[string]bool{}
	key := a.Column(column)
	for i := range a.Rows {
		if tailA[i] && key != nil {
			if text, ok := key.Text(&a.Rows[i]); ok {
				slow[text] = true
			}
		}
	}
	key = b.Column(column)
	has := make([]bool, len(b.Rows))
	for i := range b.Rows {
		if key != nil {
			text, ok := key.Text(&b.Rows[i])
			has[i] = ok && slow[text]
		}
	}
	return Attributes(measuredFlags(b.Rows, tailB), []Flag{{"same " + column + " in the other tail", measuredFlags(b.Rows, has)}})[0]
}

// measuredFlags are the flags of the rows that are not warm-up.
func measuredFlags(set []rows.Row, flags []bool) []bool {
	var out []bool
	for i := range set {
		if !set[i].Warmup {
			out = append(out, flags[i])
		}
	}
	return out
}
