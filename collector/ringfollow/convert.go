package ringfollow

import (
	"math"
	"strings"
	"unicode"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/ring"
)

// convert turns a slot into a window. The window's points are reused.
func (r *followed) convert(s *ring.Slot) *eventfile.Window {
	w := &r.window
	*w = eventfile.Window{
		Span:   s.Type == ring.Span,
		Flags:  s.Flags,
		Kind:   r.name(s.Kind),
		Pid:    int32(r.threads.pid),
		ID:     eventfile.ID{Bytes: s.ID, Raw: s.Flags&ring.FlagRawID != 0},
		Begin:  eventfile.Time(s.Begin),
		End:    eventfile.Time(s.End),
		CPU:    int64(min(s.CPU, math.MaxInt64)),
		Tid:    r.threads.outer(s.Tid),
		EndTid: r.threads.outer(s.EndTid),
		Points: w.Points[:0],
	}
	for _, p := range s.Points {
		w.Points = append(w.Points, eventfile.Point{
			Type:   eventfile.PointType(p.Type),
			Offset: p.Offset,
			Name:   r.name(p.Name),
			Tid:    r.threads.outer(p.Tid),
		})
	}
	return w
}

// name returns a name as it may be shown on a terminal.
func (r *followed) name(id uint8) string {
	if r.names[id] == "" {
		r.names[id] = printable(r.reader.Name(id))
	}
	return r.names[id]
}

func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}, s)
}
