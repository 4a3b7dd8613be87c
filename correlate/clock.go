package correlate

import (
	"fmt"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// alignClock brings a set's times to the recording's clock. Rows that count
// from some start of their own can only be placed by the ids that they share
// with windows.
func alignClock(rec *Recording, s *rows.Set) error {
	switch s.Clock.Kind {
	case rows.ClockEpoch:
		if err := s.ToMonotonic(rec.Anchors()); err != nil {
			return fmt.Errorf("align %s: %w", s.Name, err)
		}
	case rows.ClockSinceStart:
		byID := map[eventfile.ID]*eventfile.Window{}
		for i := range rec.Windows {
			byID[rec.Windows[i].ID] = &rec.Windows[i]
		}
		var pairs []rows.Pair
		for i := range s.Rows {
			r := &s.Rows[i]
			if w := byID[r.ID]; w != nil && r.HasID {
				pairs = append(pairs, rows.Pair{Send: r.Send, Recv: r.Recv, Begin: int64(w.Begin), End: int64(w.End)})
			}
		}
		if len(pairs) == 0 {
			return &NoMatchError{Rows: len(s.Rows), Windows: len(rec.Windows)}
		}
		offset, outside := rows.OffsetOf(pairs)
		s.Shift(offset)
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"%s: placed by the ids of %d windows; %d of these do not lie inside their row", s.Name, len(pairs), outside))
	}
	return nil
}
