// Package correlate joins a recording of kernel events and request windows with
// the client's rows, and says for each request where its time went and, for
// the slowest, what made it slow.
//
// It reads a recording twice: first the windows, losses and box samples, from
// which it knows every request and its tail; then the kernel events, which
// stream through timelines of the traced threads into exact accounting. Memory
// is bounded by the number of requests, not by the number of events.
package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// Time is nanoseconds on CLOCK_MONOTONIC.
type Time = eventfile.Time

// Request is one request, known by the service's window, the client's row, or
// both.
type Request struct {
	Window *eventfile.Window // nil: the client's row found no window
	Row    *rows.Row         // nil: no rows were given, or none for this window
	Run    string
	Kind   string

	// Begin and End bound what is accounted: the client's round trip where
	// there is a row, otherwise the window.
	Begin, End Time
	SinceStart int64 // ns from the first request of the run to Begin
	Warmup     bool
	Tail       bool

	Parts part.Times // sums to End - Begin
	// Steps is the time in part Running of each step of the request's group,
	// ns, by the index of Group.Steps; -1 where the request has no such step.
	Steps []int64

	MinorFaults uint32
	MajorFaults uint32
	Spans       int64 // ns in which a runtime span overlapped
	SpanName    string

	group      *Group
	first      bool // in the first 1% of its run
	box        boxView
	boxFigures BoxFigures
	foreign    int64 // ns that untraced tasks had its CPU before its stays there
	stay       Time  // the last of these stays
	sampleGap  int64 // ns, see EvidenceSampleGap
	counted    counted
	away       int64 // ns of its stays that the kernel did not charge, at least
	unseen     int64 // the same of stays with switches that were not reported
	late       int64 // ns at the ends of its stays, see EvidenceLateSwitch
	story      *story
}

// Latency returns the accounted length, ns.
func (r *Request) Latency() int64 { return int64(r.End - r.Begin) }

// ID returns the request's id.
func (r *Request) ID() eventfile.ID {
	if r.Row != nil && r.Row.HasID {
		return r.Row.ID
	}
	if r.Window != nil {
		return r.Window.ID
	}
	return eventfile.ID{}
}

// Tid returns the thread at the window's begin, 0 without a window.
func (r *Request) Tid() int32 {
	if r.Window == nil {
		return 0
	}
	return r.Window.Tid
}
