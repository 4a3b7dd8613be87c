package stats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// run is one run without its warm-up; all slices are parallel and in the order
// of sending. Times are ns since the run's first row, with steps of the clock
// taken out.
type run struct {
	name      string
	rows      []*rows.Row
	columns   *rows.Set
	send      []int64
	recv      []int64
	latency   []int64
	tail      []bool
	scheduled bool // every row has the time it was meant to be sent

	sorted      []int64 // latencies
	percentiles Percentiles
	tailCount   int
	threshold   int64
	bursts      []Burst
}

// runsOf takes the runs out of sets.
func runsOf(sets []*rows.Set, fraction float64) []*run {
	var runs []*run
	for _, set := range sets {
		tail := TailOf(set.Rows, fraction)
		elapsed := set.Elapsed()
		for i, part := range tail.Runs {
			end := len(set.Rows)
			if i+1 < len(tail.Runs) {
				end = tail.Runs[i+1].First
			}
			if part.N == 0 {
				continue
			}
			r := &run{name: part.Run, columns: set, scheduled: true, tailCount: part.Count, threshold: part.Threshold}
			for j := part.First; j < end; j++ {
				if row := &set.Rows[j]; !row.Warmup {
					r.add(row, elapsed[j], tail.Member[j])
				}
			}
			r.sorted = slices.Clone(r.latency)
			slices.Sort(r.sorted)
			r.percentiles = percentilesOfSorted(r.sorted)
			r.findBursts()
			runs = append(runs, r)
		}
	}
	nameRuns(runs)
	return runs
}

func (r *run) add(row *rows.Row, elapsed int64, inTail bool) {
	r.rows = append(r.rows, row)
	r.send = append(r.send, elapsed)
	r.recv = append(r.recv, elapsed+row.Recv-row.Send)
	r.latency = append(r.latency, row.Latency())
	r.tail = append(r.tail, inTail)
	r.scheduled = r.scheduled && row.HasIntended
}

func (r *run) findBursts() {
	r.bursts = burstsOf(r.tail)
	for i := range r.bursts {
		b := &r.bursts[i]
		b.StartNs, b.EndNs = r.rows[b.first].Send, r.rows[b.last].Recv
		b.Second = int(r.send[b.first] / 1e9)
	}
}

// nameRuns gives a run without a name that of its file, and tells runs of one
// name in several files apart.
func nameRuns(runs []*run) {
	count := map[string]int{}
	for _, r := range runs {
		if r.name == "" {
			r.name = fileBase(r.columns.Name)
		}
		count[r.name]++
	}
	for i, r := range runs {
		if count[r.name] > 1 {
			r.name = fmt.Sprintf("%s:%s", fileBase(r.columns.Name), r.name)
		}
		for slices.ContainsFunc(runs[:i], func(other *run) bool { return other.name == r.name }) {
			r.name += "'"
		}
	}
}

// fileBase is a file's name without folders and extension.
func fileBase(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	if dot := strings.LastIndexByte(path, '.'); dot > 0 {
		path = path[:dot]
	}
	return path
}

// tails lists the runs' tail flags.
func tails(runs []*run) [][]bool {
	flags := make([][]bool, len(runs))
	for i, r := range runs {
		flags[i] = r.tail
	}
	return flags
}

// summary of the run on its own.
func (r *run) summary() RunSummary {
	s := RunSummary{
		Run: r.name, N: len(r.rows), Percentiles: r.percentiles,
		Intervals: intervalsOf(r.sorted), Block: BlockLength(len(r.rows)), Blocks: map[string]Bounds{},
	}
	for _, quantile := range Quantiles {
		s.Blocks[quantile.Name] = BlockBootstrap(r.latency, quantile.Q, s.Block)
	}
	return s
}

func intervalsOf(sorted []int64) map[string]Bounds {
	intervals := map[string]Bounds{}
	for _, quantile := range Quantiles {
		intervals[quantile.Name] = IntervalOf(len(sorted), quantile.Q).Of(sorted)
	}
	return intervals
}

// period of the beginnings of the run's slow stretches.
func (r *run) period() *Period {
	span := slices.Max(r.recv)
	return periodOf(onsetsOf(r.tail, r.send, r.bursts), span, seeded("period", r.latency))
}
