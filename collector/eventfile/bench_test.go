package eventfile

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"testing"
)

// mixedEvents is like what a busy service gives: gaps of 0.5 to 100 us on
// four CPUs, ten tasks, and mostly switches and wakeups.
func mixedEvents(n int) []Event {
	r := rand.New(rand.NewPCG(1, 2))
	between := func(low, high float64) int64 { return int64(low * math.Exp(r.Float64()*math.Log(high/low))) }
	tids := []int32{1000, 1001, 1002, 1003, 1004, 1005, 300, 12, 45, 77}
	pointers := []uint64{0x7ffd222cb370, 0x7f6571235658, 0x55d0c0de1000, 0x7f6571fed480, math.MaxUint64}
	var running [4]int32
	var events []Event
	now := Time(1_000_000_000_000)
	for _, tid := range tids {
		events = append(events, Event{Kind: KindTask, Time: now, Tid: tid, Tgid: tid, Comm: "worker", Syscall: NoSyscall})
	}
	for len(events) < n {
		now = now.Add(between(500, 100_000))
		cpu := int32(r.IntN(len(running)))
		e := Event{CPU: cpu, Time: now, Tid: running[cpu], Syscall: NoSyscall}
		switch p := r.Float64(); {
		case p < 0.45:
			e.Kind = KindSwitch
			e.Peer = tids[min(len(tids)-1, int(r.ExpFloat64()*3))]
			if e.Tid != 0 && r.IntN(3) == 0 {
				e.Peer = 0
			}
			running[cpu] = e.Peer
			switch {
			case e.Tid < 1000:
			case r.IntN(5) == 0:
				e.Flags = FlagPreempt
			case r.IntN(4) == 0:
				e.State, e.Syscall = StateInterruptible, 202
				e.Args = [3]uint64{pointers[r.IntN(5)] + 64*uint64(r.IntN(3)), 128}
			default:
				e.State, e.Syscall = StateInterruptible, 232
				e.Args = [3]uint64{uint64(3 + r.IntN(4)), pointers[r.IntN(5)], 1024}
			}
		case p < 0.70:
			e.Kind, e.Tid, e.Peer, e.DestCPU = KindWaking, tids[r.IntN(6)], running[cpu], int32(r.IntN(4))
			if r.IntN(3) == 0 {
				e.Flags = FlagSoftirq
			}
		case p < 0.80:
			e.Kind, e.Dur, e.ID = KindVector, between(300, 15_000), []uint32{1, 1, 1, 2, 4}[r.IntN(5)]
		case p < 0.88:
			e.Kind, e.Dur, e.ID = KindSoftirq, between(300, 15_000), []uint32{1, 3, 3, 7, 9}[r.IntN(5)]
		case p < 0.93:
			e.Kind, e.Dur, e.ID, e.Flags = KindIRQ, between(300, 15_000), uint32(30+r.IntN(4)), FlagHandled
		case p < 0.98:
			e.Kind, e.Tid, e.DestCPU = KindMigrate, tids[r.IntN(6)], int32(r.IntN(4))
		default:
			e.Kind, e.Dur, e.Flags, e.Addr = KindFault, between(500, 5000), FlagUser, 0x7f6571000000+4096*uint64(r.IntN(1000))
		}
		events = append(events, e)
	}
	return events
}

// writeMixed flushes every 10,000 events: a second of a service that makes so
// many in it.
func writeMixed(b *testing.B, w io.Writer, events []Event) uint64 {
	f, err := NewWriter(w, &sampleHeader)
	if err != nil {
		b.Fatal(err)
	}
	for i := range events {
		if err = f.Event(&events[i]); err == nil && i%10_000 == 9_999 {
			err = f.Flush()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(&End{}); err != nil {
		b.Fatal(err)
	}
	return f.Bytes()
}

const benchEvents = 100_000

func BenchmarkWrite(b *testing.B) {
	events := mixedEvents(benchEvents)
	b.ReportAllocs()
	var bytes uint64
	for b.Loop() {
		bytes = writeMixed(b, io.Discard, events)
	}
	b.ReportMetric(float64(bytes)/benchEvents, "bytes/event")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEvents, "ns/event")
}

func BenchmarkRead(b *testing.B) {
	benchmarkRead(b, func(*Reader) {})
}

func BenchmarkReadMetaOnly(b *testing.B) {
	benchmarkRead(b, (*Reader).MetaOnly)
}

func benchmarkRead(b *testing.B, prepare func(*Reader)) {
	var file bytes.Buffer
	writeMixed(b, &file, mixedEvents(benchEvents))
	b.ReportAllocs()
	for b.Loop() {
		f, err := NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		prepare(f)
		for f.Next() {
		}
		if s := f.Summary(); s.Events != benchEvents || s.End == nil {
			b.Fatalf("summary %+v", s)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchEvents, "ns/event")
}
