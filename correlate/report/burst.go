package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// SecondOf returns the second of its run in which r began.
func SecondOf(r *correlate.Request) int { return int(r.SinceStart / int64(time.Second)) }

// Seconds counts requests and tail requests for each second of a run that has
// any, in order.
func Seconds(reqs []*correlate.Request) []stats.Second {
	begin, tail := map[string][]int64{}, map[string][]bool{}
	for _, r := range reqs {
		if !r.Warmup {
			begin[r.Run] = append(begin[r.Run], r.SinceStart)
			tail[r.Run] = append(tail[r.Run], r.Tail)
		}
	}
	var list []stats.Second
	for _, run := range slices.Sorted(maps.Keys(begin)) {
		list = append(list, stats.Seconds(run, begin[run], tail[run])...)
	}
	return slices.DeleteFunc(list, func(s stats.Second) bool { return s.Requests == 0 })
}

// Busiest returns the up to k seconds with the most tail requests, most first.
func Busiest(seconds []stats.Second, k int) []stats.Second {
	list := slices.DeleteFunc(slices.Clone(seconds), func(s stats.Second) bool { return s.Tail == 0 })
	slices.SortStableFunc(list, func(a, b stats.Second) int { return cmp.Compare(b.Tail, a.Tail) })
	return list[:min(k, len(list))]
}

// Burst is the drill-down into seconds.
type Burst struct {
	res    *correlate.Result
	all    []stats.Second
	chosen []stats.Second
}

// NewBurst drills into the chosen seconds of res, whose tail requests must have
// been told in full.
func NewBurst(res *correlate.Result, chosen []stats.Second) *Burst {
	return &Burst{res: res, all: Seconds(res.Requests), chosen: chosen}
}

// Text writes the busiest seconds, and then the tail requests of the chosen
// ones in time order with what happened in each.
func (b *Burst) Text(w io.Writer) error {
	p := &printer{w: w}
	p.warnings(b.res.Warnings)
	empty := 0
	for _, s := range b.all {
		if s.Tail == 0 {
			empty++
		}
	}
	p.printf("seconds with requests: %d, of them without a tail request: %d; the busiest:\n", len(b.all), empty)
	lines := []string{"  second\trequests\tin the tail\t"}
	for _, s := range Busiest(b.all, maxListed) {
		lines = append(lines, fmt.Sprintf("  %6d\t%8d\t%11d\t%s", s.Second, s.Requests, s.Tail, runName(s.Run)))
	}
	p.table(lines)
	for _, s := range b.chosen {
		b.second(p, s)
	}
	return p.err
}

func runName(run string) string {
	if run == "" {
		return ""
	}
	return "run " + Printable(run)
}

func (b *Burst) second(p *printer, s stats.Second) {
	var list []*correlate.Request
	for _, r := range b.res.Requests {
		if r.Tail && r.Run == s.Run && SecondOf(r) == s.Second {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(x, y *correlate.Request) int { return cmp.Compare(x.Begin, y.Begin) })
	p.printf("\nsecond %d %s: %d of %d requests are in the tail\n", s.Second, runName(s.Run), len(list), s.Requests)
	for _, r := range list {
		b.request(p, r)
	}
}

func (b *Burst) request(p *printer, r *correlate.Request) {
	e := b.res.Explain(r)
	out := request(r, &e, nil)
	p.printf("\n  %s at %.3f s: %s, %s", Printable(r.Label()), float64(r.SinceStart)/1e9, Duration(r.Latency()), Printable(e.Verdict))
	if why := Culprit(&out); why != "" {
		p.printf(" (%s)", why)
	}
	p.printf("\n    parts  %s\n", partsLine(r, &e))
	var lines []string
	moments := r.Moments()
	for i := range moments {
		if len(lines) == maxLines {
			lines = append(lines, fmt.Sprintf("    ...\t%d more", len(moments)-i))
			break
		}
		lines = append(lines, b.moment(r, &moments[i]))
	}
	p.table(lines)
}

// maxLines bounds the story of one request on paper.
const maxLines = 60

func partsLine(r *correlate.Request, e *correlate.Explanation) string {
	var list []string
	for i, ns := range r.Parts {
		if ns == 0 {
			continue
		}
		text := fmt.Sprintf("%s %s", part.Part(i), Duration(ns))
		if x := e.Excess[i]; x != 0 {
			text += fmt.Sprintf(" (%s)", signed(x))
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func signed(ns int64) string {
	if ns > 0 {
		return "+" + Duration(ns)
	}
	return Duration(ns)
}
