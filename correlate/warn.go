package correlate

import (
	"fmt"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

func (res *Result) warnf(format string, args ...any) {
	res.Warnings = append(res.Warnings, fmt.Sprintf(format, args...))
}

// warn collects what a reader must know before believing the result.
func (res *Result) warn(sets []*rows.Set) {
	res.warnFile()
	res.warnLosses()
	for _, h := range res.Header.Hooks {
		if h.How == "" {
			res.warnf("not observed: %s (%s): %s", h.Name, h.Why, h.Lost)
		}
	}
	for _, n := range res.Notes {
		res.warnf("recorder: %s", n.Text)
	}
	res.Warnings = append(res.Warnings, rows.Warnings(sets)...)
	for _, s := range sets {
		if len(s.Quarantined) > 0 {
			res.warnf("%s: %d rows set aside, the first at line %d: %s", s.Name, len(s.Quarantined), s.Quarantined[0].Line, s.Quarantined[0].Reason)
		}
	}
	res.warnJoin()
	res.warnCounts()
	if res.Shared > 0 {
		res.warnf("%d requests overlap another one on their thread without suspend points: their running time is shared and counted for each", res.Shared)
	}
	if res.Handed > 0 {
		res.warnf("%d windows end in another thread than they began in, without saying when it changed: accounted on the first", res.Handed)
	}
}

func (res *Result) warnFile() {
	s := &res.Summary
	if s.End == nil {
		res.warnf("the recording was not finished in order: it is complete up to %s after its start", res.since(s.LastTime))
	}
	for _, d := range s.Damage {
		res.warnf("the recording is damaged at byte %d (%d bytes): %s", d.Offset, d.Length, d.Reason)
	}
}

func (res *Result) since(t Time) time.Duration {
	return (t - res.Header.Started).Duration().Round(time.Millisecond)
}

func (res *Result) warnLosses() {
	for i := range res.Losses {
		l := &res.Losses[i]
		if l.Count == 0 {
			continue
		}
		where := ""
		if l.CPU >= 0 {
			where = fmt.Sprintf(" on CPU %d", l.CPU)
		}
		if l.Last != 0 {
			where += fmt.Sprintf(" from %s to %s", res.since(l.First), res.since(l.Last))
		}
		res.warnf("lost: %d %s%s (%s)", l.Count, lossUnit(l.Source), where, l.What)
	}
}

func lossUnit(s eventfile.LossSource) string {
	switch s {
	case eventfile.LossWindow:
		return "request windows"
	case eventfile.LossRecursion:
		return "events of nested programs"
	case eventfile.LossLate:
		return "events out of order"
	case eventfile.LossSkipped:
		return "page faults"
	case eventfile.LossStack:
		return "stacks"
	case eventfile.LossMap:
		return "thread states"
	}
	return "events"
}

func (res *Result) warnJoin() {
	j := &res.Join
	if j.RowsAlone > 0 {
		res.warnf("%d of %d rows have no window: %v%s", j.RowsAlone, j.Rows, j.Lone, more(j.RowsAlone, len(j.Lone)))
	}
	if j.RowsOutside > 0 {
		res.warnf("%d of %d rows are from before or after the recording: they count, but cannot be explained", j.RowsOutside, j.Rows)
	}
	if j.WindowsAlone > 0 && res.WithRows {
		ids := make([]string, len(j.LoneWindows))
		for i, id := range j.LoneWindows {
			ids[i] = IDText(id)
		}
		res.warnf("%d windows have no row: %v%s", j.WindowsAlone, ids, more(j.WindowsAlone, len(ids)))
	}
	if j.ByTime > 0 {
		res.warnf("%d rows have no id and were joined by time; %d of them could have taken another window", j.ByTime, j.Ambiguous)
	}
	if j.OtherTime > 0 {
		res.warnf("%d rows have the id of a window at another time: left unjoined", j.OtherTime)
	}
}

func more(n, listed int) string {
	if n > listed {
		return " and more"
	}
	return ""
}

func (res *Result) warnCounts() {
	c := &res.Counts
	if c.Backwards > 0 {
		res.warnf("%d events step back in time on their thread, by %s at most", c.Backwards, time.Duration(c.WorstBack))
	}
	if c.Inconsistent > 0 {
		res.warnf("a thread's switches contradict each other (%d times): the kernel did not report one, and the time before is unknown", c.Inconsistent)
	}
	if c.Unseen > 0 {
		res.warnf("a thread left its CPU and came back (%d times) without a switch that the kernel reported: that time counts as running, and as a gap in verdicts", c.Unseen)
	}
	if c.LostFaults > 0 {
		res.warnf("%d page faults ended without a trace", c.LostFaults)
	}
}
