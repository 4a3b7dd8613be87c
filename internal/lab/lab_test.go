package lab

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

// witness is what the kernel must have counted on the service's thread in a
// request with the cause.
var witness = map[string]func(Truth) bool{
	"preempted": func(t Truth) bool { return away(t) && t.Involuntary >= 1 },
	"throttled": func(t Truth) bool { return away(t) && t.Involuntary >= 1 },
	"waking":    away,
	"lock":      func(t Truth) bool { return away(t) && t.Voluntary >= 1 },
	"sleep":     func(t Truth) bool { return away(t) && t.Voluntary >= 1 },
	"net":       func(t Truth) bool { return away(t) && t.Voluntary >= 1 },
	"io":        func(t Truth) bool { return t.Voluntary >= 1 },
	"stopped":   func(t Truth) bool { return away(t) && t.Voluntary >= 1 },
	"fault":     func(t Truth) bool { return busy(t) && t.MinorFaults >= 64 },
	// Not away, nor is io: a fast disk can take less than the kernel's work on a read.
	"fault-io":  func(t Truth) bool { return t.MajorFaults >= 2 && t.Voluntary >= 2 },
	"slow-step": busy,
	"slow-core": busy,
	"more-work": busy,
	"gc":        busy,
	"client":    away,
}

func busy(t Truth) bool { return t.CPUNS >= t.InjectedNS/2 }
func away(t Truth) bool { return t.CPUNS < t.InjectedNS/2 }

func TestRunLeavesRowsAndTruthThatAgree(t *testing.T) {
	for _, shape := range Shapes() {
		t.Run(string(shape), func(t *testing.T) {
			if shape == Asyncio {
				testenv.Need(t, shape.Possible() == nil, "Python 3.9 or later")
			}
			testRun(t, Plan{Dir: diskDir(t), Shape: shape, Requests: 1500, Warmup: 50, PerCause: 3, Seed: 1})
		})
	}
}

// neverHere are causes that machines without what they need leave out even
// from root.
var neverHere = map[string]bool{"more-work": true}

func testRun(t *testing.T, plan Plan) {
	var shm *os.File
	res, err := Run(context.Background(), plan, func(pid int) error {
		var err error
		shm, err = os.Open(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", pid))
		return errors.Join(err, checkService(pid))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer shm.Close() // the service has removed the file by now
	for _, left := range res.LeftOut {
		if !neverHere[left.Cause] {
			testenv.Need(t, os.Geteuid() != 0, left.Cause+": "+left.Why)
		}
	}
	if got, want := len(res.Injected)+len(res.LeftOut), len(plan.Shape.Causes()); got != want {
		t.Errorf("%d causes injected or left out, want %d", got, want)
	}
	latency := checkRows(t, plan, res)
	checkRing(t, plan, res, shm, latency)
	checkTruth(t, res, readTruth(t, res.Truth), latency)
}

// checkRows returns the latencies of the measured requests.
func checkRows(t *testing.T, plan Plan, res *Result) map[uint64]int64 {
	rows, latency := readRows(t, res.Rows)
	// A queued request has another one beside it, flagged like a warm-up.
	if want := plan.Requests + plan.Warmup + res.Injected["queued"]; rows != want || len(latency) != plan.Requests {
		t.Errorf("%d rows, %d of them measured; want %d and %d", rows, len(latency), want, plan.Requests)
	}
	return latency
}

func checkRing(t *testing.T, plan Plan, res *Result, shm *os.File, latency map[uint64]int64) {
	windows, spans := readRing(t, shm)
	for id := range latency {
		if windows[id] != len(steps) {
			t.Fatalf("request %d has %d marks in the ring, want %d", id, windows[id], len(steps))
		}
	}
	if spans < res.Injected["gc"] || plan.Shape != Asyncio && spans != res.Injected["gc"] {
		t.Errorf("%d spans in the ring for %d collections", spans, res.Injected["gc"])
	}
}

func checkTruth(t *testing.T, res *Result, truth []Truth, latency map[uint64]int64) {
	if len(truth) != len(latency) {
		t.Errorf("the truth is of %d requests, and %d were measured", len(truth), len(latency))
	}
	took, amounts := map[string][]int64{}, map[string][]int64{}
	for _, tr := range truth {
		if l := latency[tr.ID]; l != tr.LatencyNS {
			t.Errorf("request %d took %d ns by its row, %d by the truth", tr.ID, l, tr.LatencyNS)
		}
		took[tr.Cause] = append(took[tr.Cause], tr.LatencyNS)
		amounts[tr.Cause] = append(amounts[tr.Cause], tr.InjectedNS)
		if ok := witness[tr.Cause]; ok != nil && tr.CPUNS > 0 && !ok(tr) {
			t.Errorf("the kernel's counts do not fit the cause: %+v", tr)
		}
	}
	normal := median(took[""])
	for name := range res.Injected {
		if got := len(took[name]); got != res.Injected[name] {
			t.Errorf("%s: %d in the truth, %d in the result", name, got, res.Injected[name])
			continue
		}
		m, amount := median(took[name]), median(amounts[name])
		if m < 2*normal {
			t.Errorf("%s: the median request takes %d ns, not even twice the normal %d", name, m, normal)
		}
		if m > 4*(amount+normal) {
			t.Errorf("%s: the median request takes %d ns, which an injected %d and a normal %d do not explain",
				name, m, amount, normal)
		}
	}
}

func TestRunEndsWithItsContextAndLeavesNoProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var pid int
	_, err := Run(ctx, Plan{Dir: diskDir(t)}, func(p int) error {
		pid = p
		time.AfterFunc(100*time.Millisecond, cancel)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that the context was cancelled", err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes that are left of service %d: %v", pid, left)
	}
}

func TestRunReturnsTheErrorOfStarted(t *testing.T) {
	want := errors.New("recorder is broken")
	_, err := Run(context.Background(), Plan{Dir: diskDir(t)}, func(int) error { return want })
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes that are left: %v", left)
	}
}

// runForeverIn names the directory in which this executable, instead of
// running tests, starts a run that does not end before a line is read.
const runForeverIn = "LAB_TEST_RUN_FOREVER_IN"

func runForever(dir string) {
	_, err := Run(context.Background(), Plan{Dir: dir}, func(pid int) error {
		fmt.Println(pid)
		_, err := fmt.Scanln()
		return err
	})
	fmt.Fprintln(os.Stderr, "the run ended:", err)
	os.Exit(1)
}

func TestProcessesDieWithTheCaller(t *testing.T) {
	caller := exec.Command("/proc/self/exe")
	caller.Env = append(os.Environ(), runForeverIn+"="+diskDir(t))
	if _, err := caller.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := caller.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	var service int
	_, err = fmt.Fscan(out, &service)
	caller.Process.Kill()
	caller.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !alive(service) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the service, %d, outlives its caller", service)
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestMainRefusesAnUnknownRole(t *testing.T) {
	for _, args := range [][]string{nil, {"pilot"}, {"service", "client"}} {
		if got := Main(args); got != 2 {
			t.Errorf("exit status of %q: %d, want 2", args, got)
		}
	}
}

// checkService looks at the service the way a recorder would find it.
func checkService(pid int) error {
	comm, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(comm)); got != "lab-service" {
		return errors.New("the service's process is named " + got)
	}
	return nil
}

// diskDir is a directory on a real disk where there is one.
func diskDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/var/tmp", "lab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func readRows(t *testing.T, path string) (all int, latency map[uint64]int64) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	latency = map[uint64]int64{}
	var last int64
	for in := bufio.NewScanner(f); in.Scan(); all++ {
		var r rowLine
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Recv <= r.Send {
			t.Errorf("request %d was answered before it was sent", r.ID)
		}
		if r.Send < last {
			t.Errorf("request %d stands behind one that was sent later", r.ID)
		}
		last = r.Send
		if !r.Warmup {
			latency[r.ID] = r.Recv - r.Send
		}
	}
	return all, latency
}

// readRing returns the number of marks of each request, and of spans.
func readRing(t *testing.T, shm *os.File) (marks map[uint64]int, spans int) {
	r, err := ring.NewReader(shm)
	if err != nil {
		t.Fatal(err)
	}
	marks = map[uint64]int{}
	for s := (ring.Slot{}); r.Next(&s); {
		if s.Type == ring.Span {
			spans++
			continue
		}
		n := 0
		for _, p := range s.Points {
			if p.Type == ring.Mark {
				n++
			}
		}
		marks[binary.LittleEndian.Uint64(s.ID[:])] = n
	}
	if invalid, problem := r.Invalid(); invalid > 0 || r.Err() != nil {
		t.Errorf("%d bad slots in the ring (%v), error %v", invalid, problem, r.Err())
	}
	return marks, spans
}

func readTruth(t *testing.T, path string) []Truth {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

// children lists the processes that this one has, zombies included.
func children(t *testing.T) []string {
	var found []string
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lists {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		found = append(found, strings.Fields(string(b))...)
	}
	return found
}

func median(v []int64) int64 {
	slices.Sort(v)
	return v[len(v)/2]
}
