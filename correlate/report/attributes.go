package report

import (
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// noneOf is the line for requests that have none of the attributes.
const noneOf = "none of these"

// attributeTable holds the share of every attribute that some request has in
// the tail against its share in all, and last the requests that have none.
func attributeTable(res *correlate.Result, attributes []correlate.Attribute) []stats.Attribute {
	var tail []bool
	none := stats.Flag{Name: noneOf}
	flags := make([]stats.Flag, len(attributes))
	for i, a := range attributes {
		flags[i].Name = a.Name
	}
	for _, r := range res.Requests {
		if r.Warmup {
			continue
		}
		tail = append(tail, r.Tail)
		any := false
		for i, a := range attributes {
			has := a.Has(r)
			flags[i].Has = append(flags[i].Has, has)
			any = any || has
		}
		none.Has = append(none.Has, !any)
	}
	var seen []stats.Flag
	for _, f := range flags {
		if anyOf(f.Has) {
			seen = append(seen, f)
		}
	}
	return stats.Attributes(tail, append(seen, none))
}

func anyOf(flags []bool) bool {
	for _, f := range flags {
		if f {
			return true
		}
	}
	return false
}
