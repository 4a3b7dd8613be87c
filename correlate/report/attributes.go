package report

import "github.com/tailtrace/tailtrace/correlate"

// noneOf is the line for requests that have none of the attributes.
const noneOf = "none of these"

// attributeTable holds every attribute's share in the tail against all.
func attributeTable(res *correlate.Result, attributes []correlate.Attribute) []Attribute {
	none := correlate.Attribute{Name: noneOf, Has: func(r *correlate.Request) bool {
		return len(correlate.Had(r, attributes)) == 0
	}}
	list := []Attribute{}
	for _, a := range append(attributes[:len(attributes):len(attributes)], none) {
		list = append(list, attributeLine(res, a))
	}
	return list
}

func attributeLine(res *correlate.Result, a correlate.Attribute) Attribute {
	var n, tail, has, both int
	for _, r := range res.Requests {
		if r.Warmup {
			continue
		}
		n++
		in := a.Has(r)
		if in {
			has++
		}
		if r.Tail {
			tail++
			if in {
				both++
			}
		}
	}
	out := Attribute{Name: a.Name}
	if n == 0 || tail == 0 {
		return out
	}
	out.TailShare, out.AllShare = float64(both)/float64(tail), float64(has)/float64(n)
	if has > 0 {
		ratio := out.TailShare / out.AllShare
		out.Ratio = &ratio
	}
	return out
}
