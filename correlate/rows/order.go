package rows

import (
	"cmp"
	"slices"
	"time"
)

// stepSize is the smallest backward jump between neighbours in a file that is
// taken for a step of the clock. Concurrent requests are out of order by their
// latency at most.
const stepSize = int64(10 * time.Minute)

// Step is a place where the file's clock jumped by By ns between the row
// before Row and Row, both in Set.Rows.
type Step struct {
	Row int
	By  int64
}

// order groups the rows by run and sorts each run by Send. Where the clock
// stepped, the file's own order stands on either side of the step.
func (b *builder) order() {
	s := b.set
	rank := map[string]int{}
	for i := range s.Rows {
		if _, ok := rank[s.Rows[i].Run]; !ok {
			rank[s.Rows[i].Run] = len(rank)
		}
	}
	if len(rank) > 1 {
		slices.SortStableFunc(s.Rows, func(x, y Row) int { return cmp.Compare(rank[x.Run], rank[y.Run]) })
	}
	moved := 0
	for from := 0; from < len(s.Rows); {
		to := from + 1
		for to < len(s.Rows) && s.Rows[to].Run == s.Rows[from].Run {
			to++
		}
		cuts := segments(s.Rows[from:to])
		for i := 1; i < len(cuts); i++ {
			lo, hi := from+cuts[i-1], from+cuts[i]
			moved += sortBySend(s.Rows[lo:hi])
			if i > 1 {
				s.Steps = append(s.Steps, Step{lo, s.Rows[lo].Send - s.Rows[lo-1].Send})
			}
		}
		from = to
	}
	if moved > 0 {
		b.warn("%d rows were not in the order of their send times and were sorted", moved)
	}
	for _, step := range s.Steps {
		b.warn("the clock stepped by %v before line %d", time.Duration(step.By).Round(time.Second), s.Rows[step.Row].Line)
	}
}

// sortBySend sorts stably and counts the rows that came after a later one.
func sortBySend(rows []Row) (late int) {
	for i := 1; i < len(rows); i++ {
		if rows[i].Send < rows[i-1].Send {
			late++
		}
	}
	if late > 0 {
		slices.SortStableFunc(rows, func(x, y Row) int { return cmp.Compare(x.Send, y.Send) })
	}
	return late
}

// segments cuts one run's rows, in file order, where the clock stepped: at
// jumps of stepSize and more, if one of them goes back and the pieces do not
// overlap in time. Pieces that overlap are the outputs of several workers, one
// after the other, and a run without a jump back has only paused.
func segments(rows []Row) (cuts []int) {
	cuts = append(cuts, 0)
	back := false
	for i := 1; i < len(rows); i++ {
		jump := rows[i].Send - rows[i-1].Send
		if jump >= stepSize || jump <= -stepSize {
			cuts = append(cuts, i)
			back = back || jump < 0
		}
	}
	cuts = append(cuts, len(rows))
	if !back || overlap(rows, cuts) {
		return []int{0, len(rows)}
	}
	return cuts
}

func overlap(rows []Row, cuts []int) bool {
	type span struct{ first, last int64 }
	spans := make([]span, 0, len(cuts)-1)
	for i := 1; i < len(cuts); i++ {
		sp := span{rows[cuts[i-1]].Send, rows[cuts[i-1]].Send}
		for _, r := range rows[cuts[i-1]:cuts[i]] {
			sp.first, sp.last = min(sp.first, r.Send), max(sp.last, r.Send)
		}
		spans = append(spans, sp)
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.first, y.first) })
	for i := 1; i < len(spans); i++ {
		if spans[i].first <= spans[i-1].last {
			return true
		}
	}
	return false
}

// Elapsed returns for each row the time of its Send since the first row of its
// run, ns, with steps of the clock taken out: a row after a step counts as
// sent when the row before it was answered.
func (s *Set) Elapsed() []int64 {
	elapsed := make([]int64, len(s.Rows))
	step, shift := 0, int64(0)
	for i := range s.Rows {
		r := &s.Rows[i]
		if i == 0 || r.Run != s.Rows[i-1].Run {
			shift = -r.Send
		} else if step < len(s.Steps) && s.Steps[step].Row == i {
			shift = elapsed[i-1] + s.Rows[i-1].Recv - s.Rows[i-1].Send - r.Send
		}
		for step < len(s.Steps) && s.Steps[step].Row <= i {
			step++
		}
		elapsed[i] = r.Send + shift
	}
	return elapsed
}
