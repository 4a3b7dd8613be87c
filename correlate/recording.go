package correlate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// Opener opens the recording from its start. It is called twice.
type Opener func() (*eventfile.Reader, error)

// Recording is all of an events file but its kernel events.
type Recording struct {
	Header  *eventfile.Header
	Windows []eventfile.Window // requests, by Begin
	Spans   []eventfile.Window // runtime spans, by Begin
	Losses  []eventfile.Loss
	Boxes   []eventfile.BoxSample
	Procs   map[int32]eventfile.Proc
	Notes   []eventfile.Note
	Summary eventfile.Summary

	names    map[nameKey]string
	places   *places
	stacks   map[uint64]*eventfile.Stack
	tasks    *timeline.Tasks
	requests []*Request
	samples  map[int]map[sampleKey]int64 // by box interval
	gaps     *gapFinder
}

type nameKey struct {
	class string
	id    uint32
}

// Load reads what a Recording holds and skips the kernel events.
func Load(open Opener) (*Recording, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	rec := &Recording{Header: r.Header(), Procs: map[int32]eventfile.Proc{}, names: map[nameKey]string{}, places: newPlaces(),
		stacks: map[uint64]*eventfile.Stack{}}
	r.MetaOnly()
	for r.Next() {
		rec.add(r.Meta())
	}
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	rec.Summary = r.Summary()
	rec.places.index()
	byBegin := func(a, b eventfile.Window) int { return cmp.Compare(a.Begin, b.Begin) }
	slices.SortStableFunc(rec.Windows, byBegin)
	slices.SortStableFunc(rec.Spans, byBegin)
	slices.SortStableFunc(rec.Boxes, func(a, b eventfile.BoxSample) int { return cmp.Compare(a.Time, b.Time) })
	return rec, nil
}

func (rec *Recording) add(meta any) {
	switch m := meta.(type) {
	case *eventfile.Window:
		if m.Span {
			rec.Spans = append(rec.Spans, *m)
		} else {
			rec.Windows = append(rec.Windows, *m)
		}
	case *eventfile.Loss:
		rec.Losses = append(rec.Losses, *m)
	case *eventfile.BoxSample:
		rec.Boxes = append(rec.Boxes, *m)
	case *eventfile.Proc:
		rec.Procs[m.Pid] = *m
	case *eventfile.Note:
		rec.Notes = append(rec.Notes, *m)
	case *eventfile.Stack:
		rec.addStack(m)
	case *eventfile.Name:
		rec.names[nameKey{m.Class, m.ID}] = m.Name
	case *eventfile.Mapping:
		rec.places.addMapping(m)
	case *eventfile.Fd:
		rec.places.addFd(m)
	}
}

// Syscall names a system call of the recorded machine.
func (rec *Recording) Syscall(nr int32) string {
	if nr < 0 {
		return ""
	}
	if n, ok := rec.names[nameKey{"syscall", uint32(nr)}]; ok {
		return n
	}
	return fmt.Sprintf("syscall %d", nr)
}

var (
	softirqNames = []string{"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"}
	vectorNames  = map[eventfile.VectorID]string{
		eventfile.VectorLocalTimer: "local_timer", eventfile.VectorReschedule: "reschedule",
		eventfile.VectorCallFunction: "call_function", eventfile.VectorCallFunctionSingle: "call_function_single",
		eventfile.VectorIRQWork: "irq_work", eventfile.VectorIPI: "ipi",
	}
)

// SpanName names what ran in an interrupt or a fault.
func (rec *Recording) SpanName(kind eventfile.Kind, id uint32, flags eventfile.Flags) string {
	switch kind {
	case eventfile.KindIRQ:
		if n, ok := rec.names[nameKey{"irq", id}]; ok {
			return n
		}
		return fmt.Sprintf("irq %d", id)
	case eventfile.KindSoftirq:
		if int(id) < len(softirqNames) {
			return softirqNames[id]
		}
		return fmt.Sprintf("softirq %d", id)
	case eventfile.KindVector:
		if n, ok := vectorNames[eventfile.VectorID(id)]; ok {
			return n
		}
		return fmt.Sprintf("vector %d", id)
	case eventfile.KindNMI:
		return "nmi"
	}
	if flags&eventfile.FlagMajor != 0 {
		return "major fault"
	}
	return "page fault"
}

// Anchors are the recorded pairs of monotonic and wall-clock time.
func (rec *Recording) Anchors() []rows.Anchor {
	list := []rows.Anchor{{
		Mono: int64(rec.Header.Started), Real: int64(rec.Header.Started) + rec.Header.RealtimeOffset,
	}}
	for i := range rec.Boxes {
		b := &rec.Boxes[i]
		list = append(list, rows.Anchor{Mono: int64(b.Time), Real: int64(b.Time) + b.RealtimeOffset})
	}
	return list
}

// End is the time up to which the recording is known to be complete.
func (rec *Recording) End() Time {
	if e := rec.Summary.End; e != nil {
		return e.Time
	}
	return rec.Summary.LastTime
}
