package report

import (
	"slices"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// noneOf is the line for requests that have none of the attributes.
const noneOf = "none of these"

// attributeFlags are the attributes that some request has, and last the
// requests that have none; all parallel to the requests.
func attributeFlags(res *correlate.Result, attributes []correlate.Attribute) []stats.Flag {
	none := stats.Flag{Name: noneOf}
	flags := make([]stats.Flag, len(attributes))
	for i, a := range attributes {
		flags[i].Name = a.Name
	}
	for _, r := range res.Requests {
		any := false
		for i, a := range attributes {
			has := a.Has(r)
			flags[i].Has = append(flags[i].Has, has)
			any = any || has
		}
		none.Has = append(none.Has, !any)
	}
	flags = slices.DeleteFunc(flags, func(f stats.Flag) bool {
		for i, r := range res.Requests {
			if f.Has[i] && !r.Warmup {
				return false
			}
		}
		return true
	})
	return append(flags, none)
}
