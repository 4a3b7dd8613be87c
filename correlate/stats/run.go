package stats

import (
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// run is one run without its warm-up; all slices are parallel and in the order
// of sending. Times are ns since the run's first row that counts, with steps of
// the clock taken out.
type run struct {
	name      string
	rows      []*rows.Row
	index     []int // of each row among those of all sets
	columns   *rows.Set
	send      []int64
	recv      []int64
	begin     []int64 // when latency counts from: the send, or the time intended for it
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
	names := rows.RunNames(sets)
	before := 0 // rows of earlier sets
	for _, set := range sets {
		tail := TailOf(set.Rows, fraction)
		elapsed := set.Elapsed()
		for i, part := range tail.Runs {
			end := len(set.Rows)
			if i+1 < len(tail.Runs) {
				end = tail.Runs[i+1].First
			}
			name := names[0]
			names = names[1:]
			if part.N == 0 {
				continue
			}
			r := &run{name: name, columns: set, scheduled: true, tailCount: part.Count, threshold: part.Threshold}
			for j := part.First; j < end; j++ {
				if row := &set.Rows[j]; !row.Warmup {
					r.add(row, before+j, elapsed[j], tail.Member[j])
				}
			}
			r.countFromFirst()
			r.sorted = slices.Clone(r.latency)
			slices.Sort(r.sorted)
			r.percentiles = percentilesOfSorted(r.sorted)
			r.findBursts()
			runs = append(runs, r)
		}
		before += len(set.Rows)
	}
	return runs
}

func (r *run) add(row *rows.Row, index int, elapsed int64, inTail bool) {
	r.rows, r.index = append(r.rows, row), append(r.index, index)
	r.send = append(r.send, elapsed)
	r.recv = append(r.recv, elapsed+row.Recv-row.Send)
	begin := elapsed
	if row.HasIntended {
		begin += row.Intended - row.Send
	}
	r.begin = append(r.begin, begin)
	r.latency = append(r.latency, row.Latency())
	r.tail = append(r.tail, inTail)
	r.scheduled = r.scheduled && row.HasIntended
}

// countFromFirst makes times count from the first row that is not warm-up.
func (r *run) countFromFirst() {
	firstSend, firstBegin := r.send[0], slices.Min(r.begin)
	for i := range r.send {
		r.send[i] -= firstSend
		r.recv[i] -= firstSend
		r.begin[i] -= firstBegin
	}
}

func (r *run) findBursts() {
	r.bursts = burstsOf(r.tail)
	for i := range r.bursts {
		b := &r.bursts[i]
		b.StartNs, b.EndNs = r.rows[b.first].Send, r.rows[b.last].Recv
		b.Second = int(r.begin[b.first] / 1e9)
	}
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
		Run: r.name, N: len(r.rows), Percentiles: r.percentiles, Labels: Labels(len(r.rows)),
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
