package report

import (
	"fmt"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// moment is one line of a request's story: when, in which state and for how
// long, and who or what was behind it.
func (b *Burst) moment(r *correlate.Request, m *correlate.Moment) string {
	return fmt.Sprintf("    +%s\t%s\t%s\t%s", Duration(int64(m.Start-r.Begin)), m.Part, Duration(int64(m.End-m.Start)), b.detail(r, m))
}

func (b *Burst) detail(r *correlate.Request, m *correlate.Moment) string {
	switch {
	case m.Part == part.OtherRequest && m.Other >= 0:
		return "in request " + Printable(b.res.OtherLabel(m))
	case m.Part == part.Running:
		return fmt.Sprintf("%s on CPU %d", r.Group().StepName(m.Step), m.CPU)
	case m.Part.Waiting():
		return fmt.Sprintf("%s on CPU %d%s", b.occupant(m), m.CPU, b.woken(m))
	case m.Part.OnCPU():
		return b.span(m)
	case m.Block != nil:
		return b.block(m.Block)
	}
	return ""
}

func (b *Burst) occupant(m *correlate.Moment) string {
	switch {
	case m.Part == part.Throttled:
		return "idle although runnable"
	case m.Occupant == timeline.Idle:
		return "leaving idle"
	case m.Occupant == 0:
		return "unknown task"
	}
	return b.task(m.Occupant)
}

func (b *Burst) task(ref timeline.Ref) string {
	t := b.res.Task(ref)
	return who(&correlate.Evidence{Name: t.Comm, Pid: t.Tgid, Tid: t.Tid})
}

func (b *Burst) woken(m *correlate.Moment) string {
	if m.Part != part.Waking || m.Block == nil || m.Block.Woken == 0 || m.Start != m.Block.Woken {
		return ""
	}
	if m.Block.WakerBy&(eventfile.FlagHardirq|eventfile.FlagSoftirq|eventfile.FlagNMI) != 0 {
		return ", woken by an interrupt"
	}
	if m.Block.Waker == 0 {
		return ""
	}
	return ", woken by " + b.task(m.Block.Waker)
}

func (b *Burst) span(m *correlate.Moment) string {
	name := b.res.SpanName(m.Span.Kind, m.Span.ID, m.Span.Flags)
	if m.Span.Kind == eventfile.KindFault && m.Span.Addr != 0 {
		where := b.res.Place(m.Pid, m.Span.Addr, m.Span.Start)
		if where != "" {
			where = " in " + Printable(where)
		}
		return fmt.Sprintf("%s at %#x%s on CPU %d", name, m.Span.Addr, where, m.CPU)
	}
	return fmt.Sprintf("%s on CPU %d", Printable(name), m.CPU)
}

func (b *Burst) block(x *timeline.Block) string {
	call := x.Syscall
	if call == "" {
		call = "no system call"
	}
	if object := b.res.Object(x); object != "" {
		call += " on " + Printable(object)
	}
	if x.Owner != 0 {
		call += fmt.Sprintf(", held by thread %d", x.Owner)
	}
	if x.Cut {
		call += ", since before the recording"
	}
	return call
}
