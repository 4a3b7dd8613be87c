package collector

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// startStacksProgram compiles testdata/stacks.c and starts it.
func startStacksProgram(t *testing.T) (pid int) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	testenv.Need(t, err == nil, "a C compiler")
	program := filepath.Join(t.TempDir(), "stacks")
	flags := []string{"-O1", "-g0", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program, "testdata/stacks.c"}
	if out, err := exec.Command(cc, flags...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.Remove(fmt.Sprintf("/tmp/perf-%d.map", cmd.Process.Pid))
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program says %q, %v", line, err)
	}
	return cmd.Process.Pid
}

// needWalks is for tests of user stacks: on arm64, 5.10 has the innermost call
// alone.
func (r *recording) needWalks(t *testing.T) {
	t.Helper()
	walked, user := 0, 0
	for _, s := range r.stacks {
		calls := 0
		for i := range s.Frames {
			if f := &s.Frames[i]; f.Addr != 0 && !f.InKernel() {
				calls++
			}
		}
		user += min(calls, 1)
		if calls > 1 { // in a signal handler two are known everywhere
			walked++
		}
	}
	testenv.Need(t, 2*walked > user, "a kernel that walks user stacks")
}

// chains counts the events of a kind of a process by their calls, the
// outermost first, as far as keep wants them.
func (r *recording) chains(kind eventfile.Kind, tid int32, keep func(*eventfile.Frame) bool) map[string]int {
	counts := map[string]int{}
	for _, e := range r.of(kind, tid) {
		s := r.stacks[e.Stack]
		if s == nil {
			continue
		}
		var names []string
		for _, f := range slices.Backward(s.Frames) {
			if keep(&f) {
				names = append(names, f.Symbol)
			}
		}
		counts[strings.Join(names, ";")]++
	}
	return counts
}

// ofProgram leaves out the C library, which may be stripped, and the kernel.
func ofProgram(f *eventfile.Frame) bool {
	return strings.HasSuffix(f.Module, "/stacks") || f.Module == "[jit]"
}

func TestStacksOfAProgramHaveItsFunctions(t *testing.T) {
	testenv.Root(t)
	pid := startStacksProgram(t)
	rec := recordLive(t, Config{Pids: []int{pid}, SampleHz: 997, Stacks: StacksAll}, func() { time.Sleep(2 * time.Second) })
	on := rec.chains(eventfile.KindSample, int32(pid), ofProgram)
	off := rec.chains(eventfile.KindSwitch, int32(pid), ofProgram)
	t.Logf("on the CPU %v, off the CPU %v", on, off)
	const hot = "main;serve;hot_function;leaf_without_frame"
	const made = "main;serve;call_made;py::made by a test:/x y.py"
	const waits = "main;serve;blocking_function"
	known := 0
	for chain, n := range on {
		if chain == hot || chain == made {
			known += n
		}
	}
	samples := 0
	for _, n := range on {
		samples += n
	}
	// What is left: inside the kernel, between functions, before the perf map is read.
	if on[hot] == 0 || on[made] == 0 || known*10 < samples*9 {
		t.Errorf("%d of %d samples are in %s or %s", known, samples, hot, made)
	}
	blocked := 0
	for _, n := range off {
		blocked += n
	}
	if off[waits] == 0 || off[waits]*10 < blocked*9 {
		t.Errorf("%d of %d waits are in %s", off[waits], blocked, waits)
	}
}

func TestCallsThatTheWalkMissesAreNotMadeUp(t *testing.T) {
	testenv.Root(t)
	pid := startStacksProgram(t)
	rec := recordLive(t, Config{Pids: []int{pid}, Stacks: StacksAll}, func() { time.Sleep(500 * time.Millisecond) })
	for id, s := range rec.stacks {
		for i, f := range s.Frames[:len(s.Frames)-1] {
			caller := s.Frames[i+1].Symbol
			if f.Symbol == "leaf_without_frame" && caller != "hot_function" || f.Symbol == "blocking_function" && caller != "serve" {
				t.Errorf("stack %x: %s seems to call %s", id, caller, f.Symbol)
			}
		}
	}
}

func TestStacksOfAGoProgram(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "busy")
	c.tell()
	tid := int32(number(t, c.hear()[0]))
	rec := recordLive(t, Config{Pids: []int{c.pid}, SampleHz: 997, Stacks: StacksCPU}, func() { time.Sleep(time.Second) })
	c.tell()
	rec.needWalks(t)
	all := func(f *eventfile.Frame) bool { return !strings.HasPrefix(f.Module, "[") }
	chains := rec.chains(eventfile.KindSample, tid, all)
	t.Logf("%v", chains)
	const prefix = "github.com/tailtrace/tailtrace/collector."
	good, samples := 0, 0
	for chain, n := range chains {
		if slices.ContainsFunc([]string{"runtime.sigtramp", "runtime.asyncPreempt", "runtime.mcall"}, func(s string) bool { return strings.Contains(chain, s) }) {
			continue // its turn is over: on an emulated CPU that takes long
		}
		samples += n
		if chain == "runtime.goexit;"+prefix+"onThread.func1;"+prefix+"stayBusy.func1" {
			good += n
		}
	}
	if good == 0 || good*10 < samples*9 {
		t.Errorf("%d of %d samples are in the busy function", good, samples)
	}
	for _, e := range rec.events {
		if e.Kind == eventfile.KindSwitch && e.Stack != 0 {
			t.Fatal("a switch has a stack though only samples were to")
		}
	}
}

const deepest = 40

// sleepAtDepths sleeps at one depth of calls after the other, round and round.
func sleepAtDepths(say func(...any), wait func()) {
	for range 10 {
		for depth := range deepest {
			sleepDeeper(depth, depth)
		}
	}
	say("done")
	wait()
}

// futexWaitShared tells these waits from those of Go's runtime, which are private.
const futexWaitShared = 0

// sleepDeeper sleeps in a system call whose third argument is at, under at
// calls of itself.
//
//go:noinline
func sleepDeeper(depth, at int) {
	if depth == 0 {
		word := uint32(at)
		timeout := unix.NsecToTimespec(int64(200 * time.Microsecond))
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&word)), futexWaitShared, uintptr(at), uintptr(unsafe.Pointer(&timeout)), 0, 0)
		return
	}
	sleepDeeper(depth-1, at)
	runtime.KeepAlive(depth)
}

// Each wait has its own stack and no other, however many there are.
func TestEveryWaitHasItsOwnStack(t *testing.T) {
	testenv.Root(t)
	needRegisters(t, "")
	c := startChild(t, "depths")
	rec := recordLive(t, Config{Pids: []int{c.pid}, Stacks: StacksAll}, func() {
		c.tell()
		c.hear()
	})
	rec.needWalks(t)
	waits, checked := 0, 0
	for _, e := range rec.of(eventfile.KindSwitch, c.tid) {
		if e.State == eventfile.StateRunning || e.Syscall != unix.SYS_FUTEX || e.Args[1] != futexWaitShared {
			continue
		}
		waits++
		s := rec.stacks[e.Stack]
		if s == nil { // left out, and counted
			continue
		}
		depth := -1
		for _, f := range s.Frames {
			if strings.HasSuffix(f.Symbol, ".sleepDeeper") {
				depth++
			}
		}
		if depth != int(e.Args[2]) {
			t.Fatalf("wait %d is at depth %d and has a stack of depth %d", waits, e.Args[2], depth)
		}
		checked++
	}
	// On a slow CPU a wait can be over before the thread has left it.
	if left := rec.lost(eventfile.LossStack); waits < 5*deepest || checked == 0 || uint64(waits-checked) > left {
		t.Errorf("%d of %d waits have stacks, %d were left out", checked, waits, left)
	}
}

func TestStacksThatAreOffAreNotTaken(t *testing.T) {
	testenv.Root(t)
	c := startChild(t, "mixed")
	rec := recordLive(t, Config{Pids: []int{c.pid}, SampleHz: 99, Stacks: StacksOff}, func() {
		c.tell()
		c.hear()
	})
	if len(rec.stacks) > 0 {
		t.Errorf("%d stacks", len(rec.stacks))
	}
}
