package collector

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// recording is a file that was read back.
type recording struct {
	header  *eventfile.Header
	events  []eventfile.Event // without repeated KindTasks
	losses  []eventfile.Loss
	boxes   []eventfile.BoxSample
	procs   []eventfile.Proc
	stacks  map[uint64]*eventfile.Stack
	maps    []eventfile.Mapping
	fds     []eventfile.Fd
	end     *eventfile.End // nil: torn
	summary *Summary
}

// recordLive runs body while c.Pids are recorded, and reads the file back. The
// recording is under way when body begins.
func recordLive(t testing.TB, c Config, body func()) *recording {
	t.Helper()
	testenv.Root(t)
	c.Out = filepath.Join(t.TempDir(), "events.bin")
	c.Ring = "none"
	c.Tool = "tailtrace test"
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan bool, 1)
	c.Progress = func(Progress) {
		select {
		case started <- true:
		default:
		}
	}
	type result struct {
		sum *Summary
		err error
	}
	done := make(chan result, 1)
	go func() {
		sum, err := Run(ctx, c)
		done <- result{sum, err}
	}()
	select {
	case <-started:
		body()
		cancel()
	case r := <-done:
		t.Fatalf("recording ended at once: %+v, %v", r.sum, r.err)
	}
	select {
	case r := <-done:
		if r.err != nil {
			t.Fatal(r.err)
		}
		rec := readBack(t, c.Out)
		rec.summary = r.sum
		return rec
	case <-time.After(20 * time.Second):
		t.Fatal("the recording does not end")
		return nil
	}
}

// readBack reads a file in which nothing may be damaged.
func readBack(t testing.TB, path string) *recording {
	t.Helper()
	rec, damage := readAll(t, path)
	if len(damage) > 0 {
		t.Fatalf("the file is damaged: %+v", damage)
	}
	return rec
}

func readAll(t testing.TB, path string) (*recording, []eventfile.Damage) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := eventfile.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recording{header: r.Header(), stacks: map[uint64]*eventfile.Stack{}}
	for r.Next() {
		if e := r.Event(); e != nil {
			if e.Flags&eventfile.FlagRepeat == 0 {
				rec.events = append(rec.events, *e)
			}
			continue
		}
		switch m := r.Meta().(type) {
		case *eventfile.Loss:
			rec.losses = append(rec.losses, *m)
		case *eventfile.BoxSample:
			rec.boxes = append(rec.boxes, *m)
		case *eventfile.Proc:
			rec.procs = append(rec.procs, *m)
		case *eventfile.Stack:
			rec.stacks[m.ID] = m
		case *eventfile.Mapping:
			rec.maps = append(rec.maps, *m)
		case *eventfile.Fd:
			rec.fds = append(rec.fds, *m)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	sum := r.Summary()
	rec.end = sum.End
	return rec, sum.Damage
}

// needRegisters is for tests of what programs read from a task's registers.
func needRegisters(t *testing.T, typesFile string) {
	t.Helper()
	types, err := loadKernelTypes(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Need(t, types.registers() != "", "a kernel whose programs can find a task's registers")
}

// of returns the events of a kind and tid.
func (r *recording) of(kind eventfile.Kind, tid int32) []eventfile.Event {
	var found []eventfile.Event
	for _, e := range r.events {
		if e.Kind == kind && e.Tid == tid {
			found = append(found, e)
		}
	}
	return found
}

// isTarget reports whether the file says that tid is one.
func (r *recording) isTarget(tid int32) bool {
	for _, e := range r.of(eventfile.KindTask, tid) {
		if e.Flags&eventfile.FlagTarget != 0 {
			return true
		}
	}
	return false
}

// span is a time off the CPU.
type span struct {
	out      eventfile.Event
	from, to eventfile.Time
}

// offCPU returns the closed spans of a thread.
func (r *recording) offCPU(tid int32) []span {
	var spans []span
	var open *eventfile.Event
	for i := range r.events {
		e := &r.events[i]
		switch {
		case e.Kind != eventfile.KindSwitch:
		case e.Tid == tid:
			open = e
		case e.Peer == tid && open != nil:
			spans = append(spans, span{*open, open.Time, e.Time})
			open = nil
		}
	}
	return spans
}
