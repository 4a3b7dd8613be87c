package ring

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decoded returns the points of l as a reader gets them.
func decoded(t *testing.T, l *points) []Point {
	t.Helper()
	s := Slot{Type: Request, End: maxOffset}
	var f frame
	f.fill(&s, l)
	raw := append(make([]byte, offType), f[at(offType):]...)
	var got Slot
	if err := got.decode(raw, 0, 0); err != nil {
		t.Fatalf("the points cannot be read: %v", err)
	}
	return got.Points
}

func collect(pts []Point) *points {
	l := new(points)
	for _, p := range pts {
		l.add(p)
	}
	return l
}

func repeat(n int, f func(i int) []Point) (pts []Point) {
	for i := range n {
		pts = append(pts, f(i)...)
	}
	return pts
}

func TestPointsThatFitAreAllKept(t *testing.T) {
	pts := repeat(6, func(i int) []Point {
		o := int64(100 * i)
		return []Point{{Type: Mark, Name: 1, Offset: o}, {Type: Suspend, Offset: o + 10}, {Type: Resume, Offset: o + 20}}
	})
	pts = append(pts, Point{Type: Thread, Tid: 7, Offset: 600}, Point{Type: Thread, Tid: 8, Offset: 700}, Point{Type: Mark, Offset: 800})
	l := collect(pts)
	if d := cmp.Diff(pts, decoded(t, l)); d != "" || l.cut {
		t.Errorf("cut %v (-want +got):\n%s", l.cut, d)
	}
}

func TestMarksThatDoNotFitAreTheLastOnes(t *testing.T) {
	pts := repeat(30, func(i int) []Point { return []Point{{Type: Mark, Name: 1, Offset: int64(i)}} })
	l := collect(pts)
	if d := cmp.Diff(pts[:24], decoded(t, l)); d != "" || !l.cut {
		t.Errorf("cut %v (-want +got):\n%s", l.cut, d)
	}
}

func TestSuspensionTakesTheRoomOfTheLastMarks(t *testing.T) {
	marks := repeat(24, func(i int) []Point { return []Point{{Type: Mark, Name: 1, Offset: int64(i)}} })
	turns := []Point{{Type: Suspend, Offset: 100}, {Type: Resume, Offset: 200}}
	l := collect(append(append(marks, turns...), Point{Type: Mark, Name: 2, Offset: 300}))
	if d := cmp.Diff(append(marks[:22:22], turns...), decoded(t, l)); d != "" || !l.cut {
		t.Errorf("cut %v (-want +got):\n%s", l.cut, d)
	}
}

func TestShortestIntervalGivesWay(t *testing.T) {
	// Twelve suspensions of 100, 100 apart, with one exception each.
	turns := func(short int, by int64) []Point {
		offset := int64(0)
		return repeat(12, func(i int) []Point {
			suspend := offset + 100
			resume := suspend + 100
			if i == short {
				resume -= by
			}
			offset = resume
			return []Point{{Type: Suspend, Offset: suspend}, {Type: Resume, Offset: resume}}
		})
	}
	t.Run("a suspension", func(t *testing.T) {
		pts := turns(3, 60)
		next := []Point{{Type: Suspend, Offset: 3000}, {Type: Resume, Offset: 3100}}
		want := append(append(append([]Point{}, pts[:6]...), pts[8:]...), next...)
		if d := cmp.Diff(want, decoded(t, collect(append(pts, next...)))); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("the time since the last resume", func(t *testing.T) {
		pts := turns(-1, 0)
		end := pts[23].Offset
		next := []Point{{Type: Suspend, Offset: end + 99}, {Type: Resume, Offset: end + 300}}
		want := append(append([]Point{}, pts[:23]...), next[1])
		if d := cmp.Diff(want, decoded(t, collect(append(pts, next...)))); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

func TestUnpairedTurnsAreIgnored(t *testing.T) {
	l := collect([]Point{
		{Type: Resume, Offset: 1}, {Type: Suspend, Offset: 2}, {Type: Suspend, Offset: 3},
		{Type: Resume, Offset: 4}, {Type: Resume, Offset: 5}, {Type: Suspend, Offset: 6},
	})
	want := []Point{{Type: Suspend, Offset: 2}, {Type: Resume, Offset: 4}, {Type: Suspend, Offset: 6}}
	if d := cmp.Diff(want, decoded(t, l)); d != "" || l.cut {
		t.Errorf("cut %v (-want +got):\n%s", l.cut, d)
	}
}

// TestWhatIsKeptOfAnyPointsIsTrue holds for random windows: what is kept is
// part of what was added, in order; marks are kept from the first on without
// a gap; suspensions alternate; without cut nothing is missing.
func TestWhatIsKeptOfAnyPointsIsTrue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 5000 {
		var pts []Point
		away, offset := false, int64(0)
		for range rng.IntN(120) {
			offset += 1 + rng.Int64N(1000)
			p := Point{Type: Mark, Name: uint8(1 + rng.IntN(60)), Offset: offset}
			switch k := rng.IntN(100); {
			case k < round%80: // mostly turns in some rounds, mostly marks in others
				p.Type = Suspend
				if away {
					p.Type = Resume
				}
				away = !away
			case k < 82 && round%3 == 0:
				p = Point{Type: Thread, Tid: uint32(1 + rng.IntN(1000)), Offset: offset}
			}
			pts = append(pts, p)
		}
		l := collect(pts)
		kept := decoded(t, l) // alternation and order are checked there
		if !l.cut && len(kept) != len(pts) {
			t.Fatalf("%d of %d points kept without a word", len(kept), len(pts))
		}
		checkKept(t, pts, kept)
	}
}

func checkKept(t *testing.T, pts, kept []Point) {
	t.Helper()
	marksOver := false
	for _, p := range pts {
		switch {
		case len(kept) > 0 && kept[0] == p:
			kept = kept[1:]
			if p.Type == Mark && marksOver {
				t.Fatalf("a mark is kept after one was left out: %v", pts)
			}
		case p.Type == Mark:
			marksOver = true
		}
	}
	if len(kept) > 0 {
		t.Fatalf("%v is not among what was added: %v", kept[0], pts)
	}
}
