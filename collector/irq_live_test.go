package collector

import (
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestInterruptsOfABusyThreadAreSeen(t *testing.T) {
	eachFlavour(t, interruptsOfABusyThreadAreSeen)
}

func interruptsOfABusyThreadAreSeen(t *testing.T, types string) {
	c := startChild(t, "busy")
	c.tell()
	tid := int32(c.hearNumbers()[0])
	var from, to eventfile.Time
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}, SampleHz: DefaultSampleHz}, func() {
		from = now()
		time.Sleep(500 * time.Millisecond)
		to = now()
	})
	var total int64
	kinds := make(map[eventfile.Kind]int)
	for _, e := range rec.events {
		switch e.Kind {
		case eventfile.KindIRQ, eventfile.KindSoftirq, eventfile.KindVector:
			if e.Dur < 0 {
				t.Errorf("negative time in an interrupt: %+v", e)
			}
			if e.Tid == tid && e.Time >= from && e.Time <= to {
				kinds[e.Kind]++
				total += e.Dur
			}
		case eventfile.KindSample:
			if e.Tid == tid && e.Flags&eventfile.FlagUser != 0 {
				kinds[e.Kind]++
			}
		}
	}
	// A busy CPU takes timer interrupts, on arm64 as device interrupts.
	if kinds[eventfile.KindVector]+kinds[eventfile.KindIRQ] < 10 {
		t.Errorf("interrupts of a thread that ran for %d ns: %v", to-from, kinds)
	}
	if kinds[eventfile.KindSample] < 10 {
		t.Errorf("%d samples at %d Hz in %d ns", kinds[eventfile.KindSample], DefaultSampleHz, to-from)
	}
	if total > int64(to-from)/2 {
		t.Errorf("%d of %d ns in interrupts", total, to-from)
	}
}

func TestBoxSamplesCoverTheRecording(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "busy")
	c.tell()
	c.hear()
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() { time.Sleep(time.Second) })
	if len(rec.boxes) < 8 {
		t.Fatalf("%d samples", len(rec.boxes))
	}
	var busy, agent int64
	first, last := rec.boxes[0], rec.boxes[len(rec.boxes)-1]
	for _, b := range rec.boxes[1:] {
		agent += b.AgentCPU
		for _, cpu := range b.CPUs {
			if cpu.CPU == 0 {
				busy += cpu.Busy
			}
		}
	}
	if share := float64(busy) / float64(last.Time-first.Time); share < 0.5 || share > 1.2 {
		t.Errorf("the CPU of a busy thread is busy for %.2f of the time", share)
	}
	if agent <= 0 || agent > int64(last.Time-first.Time)*int64(len(last.CPUs)) {
		t.Errorf("the recorder used %d ns", agent)
	}
}
