package collector

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// step is a drain at a time, which fetches these times from each ring.
type step struct {
	at   eventfile.Time
	got  map[int][]eventfile.Time
	want []eventfile.Time // released by it
}

func TestMergeReleasesWhatAnEarlierDrainBounds(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		rest  []eventfile.Time // released at the end
		late  lateCount
	}{
		"two rings in one order": {
			steps: []step{
				{at: 100, got: map[int][]eventfile.Time{0: {10, 30, 50}, 1: {20, 40}}},
				{at: 200, want: []eventfile.Time{10, 20, 30, 40, 50}},
			},
		},
		"an event of the drain's own time waits": {
			steps: []step{
				{at: 100, got: map[int][]eventfile.Time{0: {90, 110}}},
				{at: 200, got: map[int][]eventfile.Time{1: {95, 150}}, want: []eventfile.Time{90, 95}},
				{at: 300, want: []eventfile.Time{110, 150}},
			},
		},
		"a step back inside a ring is put right": {
			steps: []step{
				{at: 100, got: map[int][]eventfile.Time{0: {10, 30, 20, 40, 15}}},
				{at: 200, want: []eventfile.Time{10, 15, 20, 30, 40}},
			},
		},
		"an event from before the watermark is written and counted": {
			steps: []step{
				{at: 100, got: map[int][]eventfile.Time{0: {10, 90}}},
				{at: 200, want: []eventfile.Time{10, 90}},
				{at: 300, got: map[int][]eventfile.Time{1: {50, 60, 210}}, want: []eventfile.Time{50, 60}},
			},
			rest: []eventfile.Time{210},
			late: lateCount{count: 2, first: 50, last: 60},
		},
		"the end releases all": {
			steps: []step{{at: 100, got: map[int][]eventfile.Time{0: {250}, 1: {240}}}},
			rest:  []eventfile.Time{240, 250},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMerger(2)
			for _, s := range c.steps {
				m.begin(s.at)
				for ring, times := range s.got {
					addAll(m, ring, times)
				}
				if got := releaseAll(t, m); !slices.Equal(got, s.want) {
					t.Errorf("drain at %d releases %v, want %v", s.at, got, s.want)
				}
			}
			m.finish()
			if got := releaseAll(t, m); !slices.Equal(got, c.rest) {
				t.Errorf("the end releases %v, want %v", got, c.rest)
			}
			if got := m.takeLate(); got != c.late {
				t.Errorf("late: %+v, want %+v", got, c.late)
			}
		})
	}
}

// Whatever the order of arrival, what comes out is what went in, and in order
// as long as no event is later than a drain interval.
func TestMergeOfRandomRings(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := newMerger(4)
		var in, out []eventfile.Time
		for at := eventfile.Time(1000); at < 20_000; at += 1000 {
			m.begin(at)
			for ring := range 4 {
				for range r.IntN(30) {
					// stamped up to one interval ago, in any order
					stamp := at - eventfile.Time(r.IntN(1000))
					in = append(in, stamp)
					addAll(m, ring, []eventfile.Time{stamp})
				}
			}
			out = append(out, releaseAll(t, m)...)
		}
		m.finish()
		out = append(out, releaseAll(t, m)...)
		if !slices.IsSorted(out) {
			t.Fatalf("seed %d: out of order", seed)
		}
		slices.Sort(in)
		if !slices.Equal(in, out) {
			t.Fatalf("seed %d: %d events in, %d out", seed, len(in), len(out))
		}
		if late := m.takeLate(); late.count != 0 {
			t.Fatalf("seed %d: %d late", seed, late.count)
		}
	}
}

func addAll(m *merger, ring int, times []eventfile.Time) {
	for _, at := range times {
		m.add(ring, at, binary.LittleEndian.AppendUint64(nil, uint64(at)))
	}
}

// releaseAll returns the times that the released bytes say, not those that
// the merger was told.
func releaseAll(t *testing.T, m *merger) (times []eventfile.Time) {
	t.Helper()
	err := m.release(func(raw []byte) error {
		times = append(times, eventfile.Time(binary.LittleEndian.Uint64(raw)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return times
}

func TestArenaKeepsRecordsApartAndAligned(t *testing.T) {
	var a arena
	var kept [][]byte
	for i := range 20_000 {
		b := make([]byte, i%300)
		for j := range b {
			b[j] = byte(i)
		}
		kept = append(kept, a.copy(b))
	}
	for i, b := range kept {
		if len(b) != i%300 {
			t.Fatalf("record %d has %d bytes", i, len(b))
		}
		for _, v := range b {
			if v != byte(i) {
				t.Fatalf("record %d was overwritten", i)
			}
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	m := newMerger(4)
	raw := make([]byte, 144)
	at := eventfile.Time(0)
	for b.Loop() {
		for range 1000 {
			at++
			m.add(int(at)%4, at, raw)
		}
		m.begin(at)
		if err := m.release(func([]byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/event")
}
