package ring

import "testing"

// The cost of publishing, to be compared with each other in one run: the
// write alone, a window without and with the system calls for its thread ids,
// and several writers on one ring.

func BenchmarkPublish(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	s := Slot{Type: Request, Kind: p.Name("score"), ID: NumberID(1), Begin: 1, End: 2}
	b.ReportAllocs()
	for b.Loop() {
		p.Publish(&s)
	}
}

func BenchmarkWindowOnKnownThread(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	kind := p.Name("score")
	b.ReportAllocs()
	for b.Loop() {
		p.BeginOn(1, 1, kind).End()
	}
}

func BenchmarkWindow(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	kind := p.Name("score")
	b.ReportAllocs()
	for b.Loop() {
		p.Begin(1, kind).End()
	}
}

func BenchmarkWindowWithSixMarks(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	kind, step := p.Name("score"), p.Name("step")
	b.ReportAllocs()
	for b.Loop() {
		w := p.Begin(1, kind)
		for range 6 {
			w.Mark(step)
		}
		w.End()
	}
}

func BenchmarkWindowParallel(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	kind := p.Name("score")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Begin(1, kind).End()
		}
	})
}

func BenchmarkReader(b *testing.B) {
	p := newPublisher(b, DefaultSlots)
	kind, step := p.Name("score"), p.Name("step")
	r := openReader(b, p)
	var s Slot
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%(DefaultSlots/2) == 0 {
			b.StopTimer()
			for range DefaultSlots / 2 {
				w := p.Begin(1, kind)
				w.Mark(step)
				w.End()
			}
			b.StartTimer()
		}
		for !r.Next(&s) {
			if r.Err() != nil {
				b.Fatal(r.Err())
			}
		}
	}
}
