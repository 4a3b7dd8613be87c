package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

// Every slowEvery-th request takes a slow path, on the CPU and off it.
const (
	slowRequests = 400
	slowEvery    = 50
)

// serveSlowly is a service whose functions a profile must tell apart.
func serveSlowly() {
	runtime.LockOSThread()
	p := ring.Open(ring.Options{Service: "slow"})
	defer p.Close()
	kind := p.Name("request")
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	for i := range slowRequests {
		w := p.Begin(uint64(i), kind)
		normalStep()
		if i%slowEvery == slowEvery/2 {
			slowLookup()
			slowWait()
		}
		w.End()
	}
}

//go:noinline
func normalStep() {
	burn(2 * time.Millisecond)
	napping(100 * time.Microsecond)
}

//go:noinline
func slowLookup() { burn(200 * time.Millisecond) }

//go:noinline
func slowWait() { napping(200 * time.Millisecond) }

// burn takes CPU time, so that it has as many samples on a busy machine.
//
//go:noinline
func burn(d time.Duration) {
	for end := cpuTime() + d; cpuTime() < end; {
	}
}

func cpuTime() time.Duration {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano())
}

//go:noinline
func napping(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&ts, &ts) == unix.EINTR {
	}
}

// recordSlowly records the service from its first request to its exit.
func recordSlowly(t *testing.T) (path string) {
	t.Helper()
	cmd := &exec.Cmd{Path: os.Args[0], Args: []string{"slowservice"}, Stderr: os.Stderr}
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1") // only the waits of the test
	in := startTold(t, cmd)
	path = filepath.Join(t.TempDir(), "events.bin")
	started := false
	_, err := collector.Run(t.Context(), collector.Config{
		Pids: []int{cmd.Process.Pid}, Out: path, SampleHz: 499, Stacks: collector.StacksAll, Tool: "test",
		Progress: func(collector.Progress) {
			if !started {
				in.Write([]byte("go\n"))
			}
			started = true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shares are a function's parts of the time of both sets of requests,
// with what it calls.
func shares(p *report.Profile, function string) (of, rest float64) {
	for _, f := range p.Functions {
		if strings.HasSuffix(f.Name, "tailtrace."+function) || strings.HasSuffix(f.Name, "main."+function) {
			return p.Shares(&f)
		}
	}
	return 0, 0
}

// profileSlow sets the requests that took the slow path beside the others. On
// a busy machine others may be in the tail.
func profileSlow(t *testing.T, path string, offCPU bool) *report.Profile {
	t.Helper()
	slow := map[string]bool{}
	for i := slowEvery / 2; i < slowRequests; i += slowEvery {
		slow[strconv.Itoa(i)] = true
	}
	side := func(r *correlate.Request) correlate.Side {
		if slow[r.Label()] {
			return correlate.SideOf
		}
		return correlate.SideRest
	}
	rec, err := openRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	res, err := correlate.Analyze(rec.open, nil, correlate.Options{
		Tail: 0.01, Profile: func([]*correlate.Request) func(*correlate.Request) correlate.Side { return side },
	})
	if err != nil {
		t.Fatal(err)
	}
	return report.NewProfile(res, offCPU, "the slow", "the rest")
}

func TestProfileTellsTheSlowPathFromTheRest(t *testing.T) {
	testenv.Root(t)
	path := recordSlowly(t)
	for offCPU, slow := range map[bool]string{false: "slowLookup", true: "slowWait"} {
		p := profileSlow(t, path, offCPU)
		slowOf, slowRest := shares(p, slow)
		normalOf, normalRest := shares(p, "normalStep")
		if slowOf < 0.75 || slowRest > 0 {
			t.Errorf("%s has %.3f of the slow requests and %.3f of the rest", slow, slowOf, slowRest)
		}
		if normalOf > 0.2 || normalRest < 0.3 || normalRest < 2*normalOf {
			t.Errorf("off-CPU %v: normalStep has %.3f of the slow requests and %.3f of the rest", offCPU, normalOf, normalRest)
		}
		var text strings.Builder
		if err := p.Text(&text, 20); err != nil {
			t.Fatal(err)
		}
		t.Logf("\n%s", &text)
	}
}
