package collector

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestThreadThatMovesBetweenCPUsHasOneSpanForEachWait(t *testing.T) {
	testenv.Root(t)
	testenv.Need(t, runtime.NumCPU() > 1, "two CPUs")
	c := startChild(t, "move")
	var told []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	from, to, charged := eventfile.Time(told[0]), eventfile.Time(told[1]), told[2]
	var off int64
	moved := 0
	spans := rec.offCPU(c.tid)
	for i, s := range spans {
		if s.to < s.from || i > 0 && s.from < spans[i-1].to {
			t.Fatalf("off the CPU from %d to %d, after %d", s.from, s.to, spans[max(i, 1)-1].to)
		}
		if s.to > from && s.from < to {
			off += int64(min(s.to, to) - max(s.from, from))
		}
	}
	in := int32(-1)
	for _, e := range rec.events {
		switch {
		case e.Kind != eventfile.KindSwitch:
		case e.Peer == c.tid:
			if in >= 0 && in != e.CPU {
				moved++
			}
			in = e.CPU
		case e.Tid == c.tid && e.CPU != in && in >= 0:
			t.Fatalf("left CPU %d, but had CPU %d", e.CPU, in)
		}
	}
	if moved < 30 {
		t.Errorf("moved %d times of 40", moved)
	}
	on := int64(to-from) - off
	if ratio := float64(on) / float64(charged); ratio < 0.8 || ratio > 1.25 {
		t.Errorf("%d ns off the CPU leave %d on it, the kernel charged %d", off, on, charged)
	}
}

func TestInterruptsBelongToTheTaskThatHasTheCPU(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "busy")
	c.tell()
	c.hear()
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() { time.Sleep(300 * time.Millisecond) })
	ours := make(map[int32]bool)
	current := make(map[int32]int32) // by CPU, where it is one of ours
	checked := 0
	for _, e := range rec.events {
		switch e.Kind {
		case eventfile.KindTask:
			if e.Flags&eventfile.FlagTarget != 0 {
				ours[e.Tid] = true
			}
		case eventfile.KindSwitch:
			delete(current, e.CPU)
			if ours[e.Peer] {
				current[e.CPU] = e.Peer
			}
		case eventfile.KindIRQ, eventfile.KindSoftirq, eventfile.KindVector, eventfile.KindNMI:
			tid, known := current[e.CPU]
			if known && e.Tid != tid {
				t.Errorf("%+v while thread %d has the CPU", e, tid)
			}
			if known {
				checked++
			}
		}
	}
	if checked < 10 {
		t.Errorf("%d interrupts of threads whose switch-in was seen", checked)
	}
}

func TestTimerThatWakesIsNotTheDoingOfWhoItInterrupts(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "mixed")
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		c.hear()
	})
	const inInterrupt = eventfile.FlagHardirq | eventfile.FlagSoftirq
	var asleep, byTimer int
	sleeping := false
	for _, e := range rec.events {
		switch {
		case e.Kind == eventfile.KindSwitch && e.Tid == c.tid:
			sleeping = strings.HasSuffix(syscallNames[uint32(max(e.Syscall, 0))], "nanosleep") && e.State != eventfile.StateRunning
		case e.Kind == eventfile.KindWaking && e.Tid == c.tid && sleeping:
			asleep++
			if e.Flags&inInterrupt != 0 {
				byTimer++
			}
			sleeping = false
		}
	}
	// A preemption signal of the Go runtime may end a sleep too.
	if asleep < 30 || byTimer*10 < asleep*9 {
		t.Errorf("of %d sleeps %d ended in interrupt context", asleep, byTimer)
	}
}

func TestIdleTasksOfAllCPUsHaveTidZero(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "mixed")
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		c.hear()
	})
	left := make(map[int32]int)
	for _, e := range rec.events {
		if e.Kind == eventfile.KindTask && strings.HasPrefix(e.Comm, "swapper") && e.Tid != 0 {
			t.Errorf("an idle task is %+v", e)
		}
		if e.Kind == eventfile.KindTask && e.Tid == 0 && e.Flags&eventfile.FlagKthread == 0 {
			t.Errorf("tid 0 is %+v", e)
		}
		if e.Kind == eventfile.KindSwitch && e.Tid == 0 {
			left[e.CPU]++
			if e.Syscall != eventfile.NoSyscall || e.FaultStart != 0 {
				t.Errorf("an idle task leaves with %+v", e)
			}
		}
	}
	testenv.Need(t, len(left) > 0, "a CPU that is idle at times")
}

func TestThreadsThatEndKeepTheirTidInTheirLastSwitch(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "churn")
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		time.Sleep(200 * time.Millisecond)
		c.tell()
		c.hear()
	})
	exited := make(map[int32]bool) // and not yet gone
	ends, switches := 0, 0
	for _, e := range rec.events {
		switch {
		case e.Kind == eventfile.KindExit:
			exited[e.Tid] = true
			ends++
		case e.Kind == eventfile.KindSwitch && e.State == eventfile.StateDead:
			if e.Tid <= 0 {
				t.Errorf("a last switch of nobody: %+v", e)
			}
			if exited[e.Tid] { // not of another process, for whose CPU a thread waits
				switches++
			}
			delete(exited, e.Tid)
		}
	}
	if ends < 10 || switches < ends-1 { // the recording may end in between
		t.Errorf("%d threads ended, %d had a last switch", ends, switches)
	}
}

// A reader that is woken for each event costs more than the events.
func TestEventsDoNotWakeTheRecorder(t *testing.T) {
	testenv.Root(t)
	target := startChild(t, "yield")
	path := filepath.Join(t.TempDir(), "events.bin")
	c := startChild(t, "record", "TAILTRACE_TEST_FILE="+path, "TAILTRACE_TEST_PID="+strconv.Itoa(target.pid))
	c.tell()
	if said := c.hear(); said[0] != "recording" {
		t.Fatalf("the recorder says %q", said)
	}
	count := func() (sleeps, events int64) {
		sleeps, events = voluntarySwitches(t, c.pid), allSwitches(t, target.pid)
		time.Sleep(time.Second)
		return voluntarySwitches(t, c.pid) - sleeps, allSwitches(t, target.pid) - events
	}
	idle, _ := count()
	target.tell()
	busy, events := count()
	if events < 1000 || (busy-idle)*3 > events {
		t.Errorf("the recorder went to sleep %d times for %d switches, %d times for none", busy, events, idle)
	}
}

func voluntarySwitches(t *testing.T, pid int) int64 {
	return sumOfThreads(t, pid, "voluntary_ctxt_switches")
}

func allSwitches(t *testing.T, pid int) int64 {
	return voluntarySwitches(t, pid) + sumOfThreads(t, pid, "nonvoluntary_ctxt_switches")
}

// sumOfThreads adds up a number in the status of a process's threads.
func sumOfThreads(t *testing.T, pid int, key string) (sum int64) {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(filepath.Join(dir, task.Name(), "status"))
		if err != nil {
			continue // it has ended
		}
		n, err := strconv.ParseInt(parseStatus(string(text))[key], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
