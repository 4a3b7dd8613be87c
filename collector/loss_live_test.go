package collector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// received counts what came through the rings.
func (r *recording) received() (n uint64) {
	for _, e := range r.events {
		if e.Kind != eventfile.KindTask && e.Kind != eventfile.KindSnapshot {
			n++
		}
	}
	return n
}

func (r *recording) lost(source eventfile.LossSource) (n uint64) {
	for _, l := range r.losses {
		if l.Source == source {
			n += l.Count
		}
	}
	return n
}

func TestOverflowIsCountedAndBounded(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "yield")
	var from, to eventfile.Time
	rec := recordLive(t, Config{Pids: []int{c.pid}, BufferBytes: 1, SampleHz: 0}, func() {
		from = now()
		c.tell()
		time.Sleep(500 * time.Millisecond)
		c.tell()
		c.hear()
		to = now()
	})
	lost := rec.lost(eventfile.LossRing)
	if lost == 0 {
		t.Fatal("a page of buffer was enough")
	}
	if got := rec.received() + lost; got != rec.summary.Kernel {
		t.Errorf("%d events in the file and %d lost, but the kernel side made %d", rec.received(), lost, rec.summary.Kernel)
	}
	if rec.end.Lost != lost+rec.lost(eventfile.LossLate)+rec.lost(eventfile.LossRecursion)+rec.lost(eventfile.LossSkipped)+rec.lost(eventfile.LossStack) {
		t.Errorf("the end says %d lost, the blocks %d", rec.end.Lost, lost)
	}
	const slack = eventfile.Time(200 * time.Millisecond)
	for _, l := range rec.losses {
		if l.Source == eventfile.LossRing && l.CPU == 0 && (l.First > l.Last || l.First < from-slack || l.Last > to+slack) {
			t.Errorf("loss %+v is not within %d to %d", l, from, to)
		}
	}
}

func TestNothingIsLostWithoutOverflow(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "churn")
	rec := recordLive(t, Config{Pids: []int{c.pid}, SampleHz: DefaultSampleHz}, func() {
		c.tell()
		time.Sleep(300 * time.Millisecond)
		c.tell()
		c.hear()
	})
	if lost := rec.lost(eventfile.LossRing); lost > 0 {
		t.Errorf("%d lost", lost)
	}
	if got := rec.received(); got != rec.summary.Kernel {
		t.Errorf("%d events in the file, the kernel side made %d", got, rec.summary.Kernel)
	}
	if rec.lost(eventfile.LossLate) == 0 {
		for i := 1; i < len(rec.events); i++ {
			if rec.events[i].Time < rec.events[i-1].Time {
				t.Fatalf("event %d is older than the one before it, and not counted as late", i)
			}
		}
	}
}

func TestKilledRecorderLeavesNothingBehind(t *testing.T) {
	testenv.Root(t)
	target := startChild(t, "yield")
	target.tell()
	path := filepath.Join(t.TempDir(), "events.bin")
	c := startChild(t, "record", "TAILTRACE_TEST_FILE="+path, fmt.Sprint("TAILTRACE_TEST_PID=", target.pid))
	c.tell()
	if said := c.hear(); said[0] != "recording" {
		t.Fatalf("the recorder says %q", said)
	}
	ids := programIDs(t, c.pid)
	if len(ids) == 0 {
		t.Fatal("the recorder has no programs")
	}
	c.kill()
	eventually(t, "the programs to go", func() bool {
		for _, id := range ids {
			p, err := ebpf.NewProgramFromID(id)
			if !errors.Is(err, fs.ErrNotExist) {
				if err == nil {
					p.Close()
				}
				return false
			}
		}
		return true
	})
	rec, _ := readAll(t, path)
	if rec.end != nil {
		t.Error("the file of a killed recorder has an end")
	}
	if len(rec.events) == 0 {
		t.Error("nothing of the recording is readable")
	}
}

var progID = regexp.MustCompile(`(?m)^prog_id:\t(\d+)$`)

// programIDs lists the BPF programs that a process holds.
func programIDs(t *testing.T, pid int) []ebpf.ProgramID {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fdinfo", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var ids []ebpf.ProgramID
	for _, fd := range fds {
		text, err := os.ReadFile(filepath.Join(dir, fd.Name()))
		if err != nil {
			continue
		}
		if m := progID.FindSubmatch(text); m != nil {
			id, err := strconv.ParseUint(string(m[1]), 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, ebpf.ProgramID(id))
		}
	}
	return ids
}
