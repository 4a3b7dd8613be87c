package recheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// Check holds statistics, as JSON of the form tailtrace.stats/1, against the
// rows that they claim to be of. Everything that does not hang on a seeded
// resampling is recomputed here; then the whole document is made once more by
// package stats, so that no number goes unchecked. It is nil where all agree.
func Check(claimed []byte, sets []*rows.Set, options stats.Options) (*Difference, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(claimed, &head); err != nil {
		return nil, fmt.Errorf("check statistics: %w", err)
	}
	if head.Schema != stats.Schema {
		return nil, fmt.Errorf("check statistics: the schema is %q, not %q", head.Schema, stats.Schema)
	}
	d, err := Diff(claimed, Recompute(sets, options))
	if d != nil || err != nil {
		return d, err
	}
	again, err := stats.Summarize(sets, options)
	if err != nil {
		return nil, fmt.Errorf("check statistics: %w", err)
	}
	return Diff(claimed, again)
}

// run is one run of rows without its warm-up.
type run struct {
	name    string
	latency []int64
	begin   []int64 // since the run's first row, ns
	tail    []bool
}

// Recompute makes the part of a document that hangs on no resampling.
func Recompute(sets []*rows.Set, options stats.Options) map[string]any {
	var runs []*run
	n, errors, timeouts, warmup, quarantined := 0, 0, 0, 0, 0
	for _, set := range sets {
		quarantined += len(set.Quarantined)
		byName := map[string]*run{}
		for i, elapsed := range set.Elapsed() {
			row := &set.Rows[i]
			if row.Warmup {
				warmup++
				continue
			}
			r := byName[row.Run]
			if r == nil {
				r = &run{name: row.Run}
				byName[row.Run] = r
				runs = append(runs, r)
			}
			r.latency = append(r.latency, row.Latency())
			if row.HasIntended {
				elapsed += row.Intended - row.Send
			}
			r.begin = append(r.begin, elapsed)
			n++
			errors += one(row.Failed())
			timeouts += one(row.Timeout)
		}
	}
	doc := map[string]any{
		"n": n, "errors": errors, "timeouts": timeouts, "warmup": warmup, "quarantined": quarantined,
		"labels": labels(n),
	}
	ofRuns(doc, runs, cmp.Or(options.Fraction, stats.TailFraction))
	var tail []bool
	for _, r := range runs {
		tail = append(tail, r.tail...)
	}
	doc["attributes"] = attributes(tail, stats.FlagsOf(sets, options))
	doc["steps"] = steps(tail, stats.StepsOf(sets, options))
	return doc
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ofRuns adds what needs the tail of each run.
func ofRuns(doc map[string]any, runs []*run, fraction float64) {
	var all []int64
	var flags [][]bool
	var list []map[string]any
	seconds := []map[string]any{}
	count, least := 0, int64(0)
	for i, r := range runs {
		var threshold int64
		r.tail, threshold = Tail(r.latency, fraction)
		if i == 0 || threshold < least {
			least = threshold
		}
		for _, in := range r.tail {
			count += one(in)
		}
		all = append(all, r.latency...)
		flags = append(flags, r.tail)
		list = append(list, map[string]any{
			"n": len(r.latency), "percentiles_ns": Percentiles(r.latency), "labels": labels(len(r.latency)), "intervals_ns": intervals(r.latency),
		})
		seconds = append(seconds, r.seconds()...)
	}
	doc["percentiles_ns"] = Percentiles(all)
	doc["intervals_ns"] = intervals(all)
	doc["tail"] = map[string]any{"fraction": fraction, "count": count, "threshold_ns": least}
	doc["next_in_tail"], doc["next_by_chance"] = nextInTail(flags)
	doc["pages"] = pages(flags)
	doc["runs"] = list
	doc["seconds"] = seconds
}

// seconds lists every second from the first request to the last, none of a run
// of twelve days and more.
func (r *run) seconds() (list []map[string]any) {
	requests, slow := map[int64]int{}, map[int64]int{}
	last, first := int64(0), slices.Min(r.begin)
	for i, begin := range r.begin {
		s := (begin - first) / 1e9
		requests[s]++
		slow[s] += one(r.tail[i])
		last = max(last, s)
	}
	if last >= 1<<20 {
		return nil
	}
	for s := range last + 1 {
		list = append(list, map[string]any{"second": s, "requests": requests[s], "tail": slow[s]})
	}
	return list
}
