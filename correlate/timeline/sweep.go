package timeline

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// level orders the classes of spans on a CPU by what interrupts what. As in
// the kernel's osnoise tracer, time in a higher class is taken out of every
// lower one that is open.
func level(k eventfile.Kind) int {
	switch k {
	case eventfile.KindNMI:
		return 3
	case eventfile.KindIRQ, eventfile.KindVector:
		return 2
	case eventfile.KindSoftirq:
		return 1
	default: // KindFault
		return 0
	}
}

var levelPart = [4]part.Part{part.Fault, part.Softirq, part.IRQ, part.NMI}

type edge struct {
	at   Time
	span int32
	open bool
}

// sweeper splits a stay on the CPU into running and the spans inside it.
type sweeper struct {
	edges []edge
	stack [4][]int32 // open spans by level, innermost last
}

// run calls emit for consecutive pieces that cover [start, end) exactly. span
// is nil where the thread simply ran.
func (w *sweeper) run(start, end Time, spans []Span, emit func(start, end Time, p part.Part, s *Span)) {
	w.edges = w.edges[:0]
	for i := range w.stack {
		w.stack[i] = w.stack[i][:0]
	}
	for i := range spans {
		from, to := max(start, spans[i].Start), min(end, spans[i].End)
		if from < to {
			w.edges = append(w.edges, edge{from, int32(i), true}, edge{to, int32(i), false})
		}
	}
	// Ends come before starts at the same moment, so that back-to-back spans
	// do not look nested.
	slices.SortFunc(w.edges, func(a, b edge) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		if a.open != b.open {
			if b.open {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.span, b.span)
	})
	at := start
	for _, e := range w.edges {
		if e.at > at {
			p, s := w.top(spans)
			emit(at, e.at, p, s)
			at = e.at
		}
		w.apply(e, level(spans[e.span].Kind))
	}
	if at < end {
		emit(at, end, part.Running, nil)
	}
}

func (w *sweeper) apply(e edge, lv int) {
	st := w.stack[lv]
	if e.open {
		w.stack[lv] = append(st, e.span)
		return
	}
	if i := slices.Index(st, e.span); i >= 0 {
		w.stack[lv] = slices.Delete(st, i, i+1)
	}
}

func (w *sweeper) top(spans []Span) (part.Part, *Span) {
	for lv := len(w.stack) - 1; lv >= 0; lv-- {
		if n := len(w.stack[lv]); n > 0 {
			return levelPart[lv], &spans[w.stack[lv][n-1]]
		}
	}
	return part.Running, nil
}
