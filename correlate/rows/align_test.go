package rows

import "testing"

func TestToMonotonicFollowsASteppingWallClock(t *testing.T) {
	const epoch = int64(1.79e18)
	// At uptime 100 s the wall clock steps back by 25,000 s.
	anchors := []Anchor{{90e9, epoch + 90e9}, {99.9e9, epoch + 99.9e9}, {100.1e9, epoch - 25_000e9 + 100.1e9}}
	s := &Set{Clock: Clock{ClockEpoch, 1}, Rows: []Row{
		{Send: epoch + 95e9, Recv: epoch + 95e9 + 7, Intended: epoch + 94e9, HasIntended: true},
		{Send: epoch - 25_000e9 + 120e9, Recv: epoch - 25_000e9 + 120e9 + 9},
	}}
	if err := s.ToMonotonic(anchors); err != nil {
		t.Fatal(err)
	}
	if r := s.Rows[0]; r.Send != 95e9 || r.Recv != 95e9+7 || r.Intended != 94e9 {
		t.Errorf("before the step: %+v", r)
	}
	if r := s.Rows[1]; r.Send != 120e9 || r.Recv != 120e9+9 {
		t.Errorf("after the step: %+v", r)
	}
	if s.Clock.Kind != ClockMonotonic {
		t.Errorf("clock %v", s.Clock)
	}
}

func TestToMonotonicNeedsAnAnchor(t *testing.T) {
	s := &Set{Clock: Clock{ClockEpoch, 1}, Rows: []Row{{}}}
	if err := s.ToMonotonic(nil); err == nil {
		t.Error("got no error")
	}
	s.Clock.Kind = ClockMonotonic
	if err := s.ToMonotonic(nil); err != nil {
		t.Error(err)
	}
}

func TestOffsetOfPutsWindowsInsideTheirRows(t *testing.T) {
	var pairs []Pair
	for i := range int64(1000) {
		send := i * 1e6
		pairs = append(pairs, Pair{send, send + 900e3, send + 5e9 + 50e3 + i%7*1000, send + 5e9 + 850e3 - i%5*1000})
	}
	offset, outside := OffsetOf(pairs)
	if offset < 5e9-50e3 || offset > 5e9+50e3 || outside != 0 {
		t.Errorf("offset %d with %d outside, want 5e9 +- 50e3", offset, outside)
	}
	pairs[3].Begin += 77e9
	pairs[3].End += 77e9
	offset, outside = OffsetOf(pairs)
	if offset < 5e9-50e3 || offset > 5e9+50e3 || outside != 1 {
		t.Errorf("with a wrong join: offset %d with %d outside, want 5e9 +- 50e3 and 1", offset, outside)
	}
}
