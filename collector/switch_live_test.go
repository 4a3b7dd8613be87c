package collector

import (
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestSleepIsOneSpanOffTheCPU(t *testing.T) {
	eachFlavour(t, sleepIsOneSpanOffTheCPU)
}

func sleepIsOneSpanOffTheCPU(t *testing.T, types string) {
	needRegisters(t, types)
	c := startChild(t, "sleep")
	var told []int64
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
	})
	from, to := eventfile.Time(told[0]), eventfile.Time(told[1])
	var inside []span
	for _, s := range rec.offCPU(c.tid) {
		if s.from >= from && s.to <= to && s.out.State == eventfile.StateInterruptible {
			inside = append(inside, s)
		}
	}
	if len(inside) != 1 {
		t.Fatalf("%d sleeps between %d and %d, want 1: %+v", len(inside), from, to, inside)
	}
	s := inside[0]
	if ratio := float64(s.to-s.from) / float64(to-from); ratio < 0.9 || ratio > 1 {
		t.Errorf("the span is %.3f of what the thread measured", ratio)
	}
	if name := syscallNames[uint32(s.out.Syscall)]; name != "nanosleep" {
		t.Errorf("left the CPU in system call %q", name)
	}
	woken := false
	for _, e := range rec.of(eventfile.KindWaking, c.tid) {
		if e.Time > s.from && e.Time < s.to {
			woken = true
			if e.Flags&eventfile.FlagHardirq == 0 {
				t.Errorf("the timer that ended the sleep is not seen as an interrupt: %+v", e)
			}
		}
	}
	if !woken {
		t.Error("nothing woke the sleeper")
	}
}

func TestThreadsOfEveryAgeAreSeen(t *testing.T) {
	eachFlavour(t, threadsOfEveryAgeAreSeen)
}

func threadsOfEveryAgeAreSeen(t *testing.T, types string) {
	c := startChild(t, "threads")
	c.tell()
	old := c.hearNumbers()[0]
	var later []int64
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		later = c.hearNumbers()
	})
	for name, tid := range map[string]int64{"old thread": old, "new thread": later[0], "child process": later[1]} {
		if !rec.isTarget(int32(tid)) {
			t.Errorf("%s %d is not known as a target", name, tid)
		}
		want := 3
		if name == "child process" {
			want = 1
		}
		if spans := rec.offCPU(int32(tid)); len(spans) < want {
			t.Errorf("%s %d: %d times off the CPU, want %d at least", name, tid, len(spans), want)
		}
	}
	child := int32(later[1])
	if n := rec.lastExits(child); n != 1 {
		t.Errorf("%d last exits of the child process", n)
	}
	if len(rec.of(eventfile.KindExec, child)) != 1 {
		t.Error("the exec of the child process is not seen once")
	}
}

func TestChildrenAreLeftAloneWithoutFollow(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "threads")
	c.tell()
	c.hear()
	var later []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}, NoFollow: true}, func() {
		c.tell()
		later = c.hearNumbers()
	})
	if !rec.isTarget(int32(later[0])) {
		t.Error("a thread is not known as a target")
	}
	if rec.isTarget(int32(later[1])) {
		t.Error("a child process is a target")
	}
}

// A service may have had its workers for long.
func TestChildrenFromBeforeAreTracedToo(t *testing.T) {
	testenv.Root(t)
	for _, noFollow := range []bool{false, true} {
		c := startChild(t, "parent")
		c.tell()
		pid := int32(c.hearNumbers()[0])
		time.Sleep(20 * time.Millisecond)
		rec := recordLive(t, Config{Pids: []int{c.pid}, NoFollow: noFollow}, func() {
			c.tell()
			c.hear()
		})
		snaps, ends := len(rec.of(eventfile.KindSnapshot, pid)), len(rec.of(eventfile.KindExit, pid))
		if traced := rec.isTarget(pid); traced == noFollow || traced != (snaps == 1) || traced != (ends == 1) {
			t.Errorf("no-follow %t: traced %t, with %d snapshots and %d ends", noFollow, traced, snaps, ends)
		}
	}
}

func TestSleepFromBeforeIsInTheSnapshot(t *testing.T) {
	eachFlavour(t, sleepFromBeforeIsInTheSnapshot)
}

func sleepFromBeforeIsInTheSnapshot(t *testing.T, types string) {
	needRegisters(t, types)
	c := startChild(t, "asleep")
	c.tell()
	tid := int32(c.hearNumbers()[0])
	time.Sleep(20 * time.Millisecond)
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {})
	snaps := rec.of(eventfile.KindSnapshot, tid)
	if len(snaps) != 1 {
		t.Fatalf("%d snapshots of the sleeper", len(snaps))
	}
	s := snaps[0]
	if s.State != eventfile.StateInterruptible || syscallNames[uint32(s.Syscall)] != "nanosleep" || s.Flags&eventfile.FlagOnCPU != 0 {
		t.Errorf("snapshot of a sleeper: %+v", s)
	}
}

func TestHogThatPreemptsIsNamed(t *testing.T) {
	eachFlavour(t, hogThatPreemptsIsNamed)
}

func hogThatPreemptsIsNamed(t *testing.T, types string) {
	busy := startChild(t, "busy")
	hog := startChild(t, "hog")
	busy.tell()
	tid := int32(busy.hearNumbers()[0])
	var said string
	rec := recordLive(t, Config{BTF: types, Pids: []int{busy.pid}}, func() {
		hog.tell()
		said = hog.hear()[0]
	})
	testenv.Need(t, said == "done", "real-time scheduling")
	preempted := 0
	for _, s := range rec.offCPU(tid) {
		// Go's runtime parks a thread whose goroutine has run for 10 ms: the hog may
		// then take the CPU of a sleeper.
		if s.out.Peer == hog.tid && s.out.State == eventfile.StateRunning {
			preempted++
		}
	}
	if preempted < 3 {
		t.Errorf("preempted by the hog %d times of 30, want a few", preempted)
	}
	names := rec.of(eventfile.KindTask, hog.tid)
	if len(names) == 0 || names[len(names)-1].Comm != "hog" {
		t.Errorf("the hog is known as %+v", names)
	}
	named := false
	for _, p := range rec.procs {
		named = named || (int(p.Pid) == hog.pid && p.Cmdline != "" && !p.Target)
	}
	if !named {
		t.Error("the hog's command line is not in the file")
	}
}

func TestCommandLineOfTheHogCanBeKeptOut(t *testing.T) {
	busy, hog := startChild(t, "busy"), startChild(t, "hog")
	busy.tell()
	busy.hear()
	var said string
	rec := recordLive(t, Config{Pids: []int{busy.pid}, NoCmdlines: true}, func() {
		hog.tell()
		said = hog.hear()[0]
	})
	testenv.Need(t, said == "done", "real-time scheduling")
	named, own := false, false
	for _, p := range rec.procs {
		named = named || int(p.Pid) == hog.pid && p.Comm == "hog"
		own = own || int(p.Pid) == busy.pid && p.Cmdline != ""
		if p.Cmdline != "" && !p.Target && !p.Self {
			t.Errorf("the command line of process %d (%s) is in the file", p.Pid, p.Comm)
		}
	}
	if !named || !own {
		t.Errorf("the hog's name is in the file: %t, the service's command line: %t", named, own)
	}
}

func TestThreadNamesAreKeptByteByByte(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "names")
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		c.hear()
	})
	var got []string
	for _, e := range rec.of(eventfile.KindTask, c.tid) {
		got = append(got, e.Comm)
	}
	for _, want := range oddNames {
		want = want[:min(len(want), 15)]
		found := false
		for _, g := range got {
			found = found || g == want
		}
		if !found {
			t.Errorf("no task %q in %q", want, got)
		}
	}
}

func TestExecFromAnotherThreadTakesTheLeadersTid(t *testing.T) {
	eachFlavour(t, execFromAnotherThreadTakesTheLeadersTid)
}

func execFromAnotherThreadTakesTheLeadersTid(t *testing.T, types string) {
	c := startChild(t, "exec")
	var tid int32
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		tid = int32(c.hearNumbers()[0])
		c.cmd.Wait()
	})
	execs := rec.of(eventfile.KindExec, int32(c.pid))
	if len(execs) != 1 || execs[0].Peer != tid {
		t.Fatalf("execs: %+v, want one from %d", execs, tid)
	}
	slept := false
	for _, s := range rec.offCPU(int32(c.pid)) {
		slept = slept || (s.from > execs[0].Time && s.to-s.from > 100e6)
	}
	if !slept {
		t.Error("the new program's sleep is not seen under the leader's tid")
	}
}

func TestEndOfTheLastTargetEndsTheRecording(t *testing.T) {
	eachFlavour(t, endOfTheLastTargetEndsTheRecording)
}

func endOfTheLastTargetEndsTheRecording(t *testing.T, types string) {
	a, b := startChild(t, "exit"), startChild(t, "exit")
	rec := recordLive(t, Config{BTF: types, Pids: []int{a.pid, b.pid}}, func() {
		a.end()
		time.Sleep(200 * time.Millisecond)
		b.end()
		time.Sleep(500 * time.Millisecond)
	})
	if rec.summary.Reason != ReasonExited {
		t.Errorf("the recording ended by %q", rec.summary.Reason)
	}
	if rec.end == nil || rec.end.Reason != ReasonExited {
		t.Errorf("the file's end: %+v", rec.end)
	}
	for _, c := range []*child{a, b} {
		if n := rec.lastExits(int32(c.pid)); n != 1 {
			t.Errorf("%d last exits of process %d", n, c.pid)
		}
	}
}

// lastExits counts the ends of a process, by whichever thread was the last.
func (r *recording) lastExits(pid int32) (n int) {
	tgid := make(map[int32]int32)
	for _, e := range r.events {
		switch {
		case e.Kind == eventfile.KindTask:
			tgid[e.Tid] = e.Tgid
		case e.Kind == eventfile.KindExit && e.Flags&eventfile.FlagLast != 0 && tgid[e.Tid] == pid:
			n++
		}
	}
	return n
}
