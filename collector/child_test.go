package collector

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary is its own workload: run with childEnv set to one of these,
// it says that it is ready, waits for a line, works, and reports what it did.
var workloads = map[string]func(say func(...any), wait func()){
	"sleep":       sleepOnce,
	"asleep":      fallAsleep,
	"mixed":       workAndSleep,
	"move":        moveAbout,
	"threads":     startThreads,
	"busy":        stayBusy,
	"hog":         hogCPU(30, 20*time.Millisecond, 10*time.Millisecond),
	"kernel":      stayInKernel,
	"oftenhog":    hogCPU(50, 2*time.Millisecond, 200*time.Microsecond),
	"maps":        useMaps,
	"pipe":        readPipe,
	"faults":      touchPages,
	"badfaults":   faultForNothing,
	"majorfaults": touchFile,
	"yield":       yieldInTurn,
	"names":       renameThread,
	"exec":        execFromThread,
	"parent":      startProcess,
	"exit":        func(func(...any), func()) {},
	"churn":       churn,
	"record":      recordForever,
	"lock":        contendLock,
	"depths":      sleepAtDepths,
}

const childEnv = "TAILTRACE_TEST_CHILD"

// napEnv makes the test binary sleep that long and exit: a program to start
// where there is no other.
const napEnv = "TAILTRACE_TEST_NAP"

func TestMain(m *testing.M) {
	if nap, err := time.ParseDuration(os.Getenv(napEnv)); err == nil {
		nanosleep(nap)
		return
	}
	if work, ok := workloads[os.Getenv(childEnv)]; ok {
		runtime.LockOSThread()
		in := bufio.NewScanner(os.Stdin)
		say := func(a ...any) { fmt.Println(a...) }
		say("ready", os.Getpid(), unix.Gettid())
		wait := func() {
			if !in.Scan() {
				os.Exit(0)
			}
		}
		wait()
		work(say, wait)
		return
	}
	os.Exit(m.Run())
}

// child is a workload under way.
type child struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	pid int
	tid int32
}

// startChild starts a workload that waits for its first line.
func startChild(t testing.TB, name string, env ...string) *child {
	t.Helper()
	c := startChildIn(t, name, &syscall.SysProcAttr{}, env...)
	if c.pid != c.cmd.Process.Pid {
		t.Fatalf("workload %s is process %d and says %d", name, c.cmd.Process.Pid, c.pid)
	}
	return c
}

// startChildIn is startChild in other namespaces, where the child's pid and
// tid are others than ours.
func startChildIn(t testing.TB, name string, attr *syscall.SysProcAttr, env ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0])}
	c.cmd.SysProcAttr = attr
	c.cmd.Env = append(os.Environ(), append(env, childEnv+"="+name)...)
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	ready := c.hear()
	if len(ready) != 3 || ready[0] != "ready" {
		t.Fatalf("workload %s says %q", name, ready)
	}
	c.pid = int(number(t, ready[1]))
	c.tid = int32(number(t, ready[2]))
	return c
}

// tell lets the workload go on.
func (c *child) tell() {
	c.t.Helper()
	if _, err := io.WriteString(c.in, "go\n"); err != nil {
		c.t.Fatal(err)
	}
}

// hear returns the words of the workload's next line.
func (c *child) hear() []string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("workload ended early: %v", c.out.Err())
	}
	return strings.Fields(c.out.Text())
}

// hearNumbers is hear for a line of numbers.
func (c *child) hearNumbers() []int64 {
	c.t.Helper()
	var ns []int64
	for _, w := range c.hear() {
		ns = append(ns, number(c.t, w))
	}
	return ns
}

func (c *child) kill() {
	c.cmd.Process.Kill()
	c.in.Close()
	c.cmd.Wait()
}

// end lets the workload return and waits for it.
func (c *child) end() {
	c.in.Close()
	c.cmd.Wait()
}

func number(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// nanosleep sleeps in one system call, which time.Sleep does not.
func nanosleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	for unix.Nanosleep(&ts, &ts) == unix.EINTR {
	}
}

// spin keeps the CPU for about d.
func spin(d time.Duration) {
	for end := now().Add(int64(d)); now() < end; {
	}
}

// onThread runs f on a thread of its own and returns when that has ended.
func onThread(f func(tid int32)) (wait func()) {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		f(int32(unix.Gettid()))
		close(done)
	}()
	return func() { <-done }
}

// pin binds the calling thread to one CPU.
func pin(cpu int) {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		panic(err)
	}
}
