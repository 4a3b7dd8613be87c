package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestWriterOfAPipeIsNamedAsTheWaker(t *testing.T) {
	eachFlavour(t, writerOfAPipeIsNamedAsTheWaker)
}

func writerOfAPipeIsNamedAsTheWaker(t *testing.T, types string) {
	needRegisters(t, types)
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil { // inherited: no CLOEXEC
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	c := startChild(t, "pipe", "TAILTRACE_TEST_FD="+strconv.Itoa(pipe[0]))
	writer := make(chan int32, 1)
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		onThread(func(tid int32) {
			writer <- tid
			for range 10 {
				nanosleep(5 * time.Millisecond)
				if _, err := unix.Write(pipe[1], []byte{1}); err != nil {
					t.Error(err)
				}
			}
		})()
		c.hear()
	})
	tid := <-writer
	named := 0
	for _, e := range rec.of(eventfile.KindWaking, c.tid) {
		if e.Peer == tid && e.Flags&(eventfile.FlagHardirq|eventfile.FlagSoftirq) == 0 {
			named++
		}
	}
	if named < 8 {
		t.Errorf("the writer is the waker %d times of 10", named)
	}
	fifos := 0
	for _, s := range rec.offCPU(c.tid) {
		if s.out.FdType == unix.S_IFIFO>>12 && syscallNames[uint32(s.out.Syscall)] == "read" {
			fifos++
		}
	}
	if fifos < 8 {
		t.Errorf("%d waits of 10 are seen as reads of a pipe", fifos)
	}
	self := false
	for _, p := range rec.procs {
		self = self || (int(p.Pid) == os.Getpid() && p.Self)
	}
	if !self {
		t.Error("the recorder does not name itself")
	}
}

func TestHolderOfAContendedMutexIsNamed(t *testing.T) {
	eachFlavour(t, holderOfAContendedMutexIsNamed)
}

func holderOfAContendedMutexIsNamed(t *testing.T, types string) {
	needRegisters(t, types)
	c := startChild(t, "lock")
	var holder int32
	rec := recordLive(t, Config{BTF: types, Pids: []int{c.pid}}, func() {
		c.tell()
		holder = int32(c.hearNumbers()[0])
	})
	for _, s := range rec.offCPU(c.tid) {
		if s.out.Owner == holder {
			return
		}
	}
	t.Errorf("no switch of %d names the holder %d", c.tid, holder)
}

func TestHolderIsNamedByOurThreadIDOfAnotherNamespace(t *testing.T) {
	testenv.Root(t)
	needRegisters(t, "")
	c := startChildIn(t, "lock", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID})
	if c.pid != 1 {
		t.Fatalf("process %d in its own namespace", c.pid)
	}
	pid := c.cmd.Process.Pid
	var inner int32
	rec := recordLive(t, Config{Pids: []int{pid}}, func() {
		c.tell()
		inner = int32(c.hearNumbers()[0])
		time.Sleep(200 * time.Millisecond)
	})
	holder := outerTid(t, pid, inner)
	for _, e := range rec.events {
		if e.Kind == eventfile.KindSwitch && e.Owner == holder {
			return
		}
	}
	t.Errorf("no switch names the holder %d, which calls itself %d", holder, inner)
}

// outerTid returns our id of the thread that its process knows as inner.
func outerTid(t *testing.T, pid int, inner int32) int32 {
	t.Helper()
	statuses, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range statuses {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if tid, in := parseNSpid(parseStatus(string(text))["NSpid"]); in == inner {
			return tid
		}
	}
	t.Fatalf("no thread of %d is %d to itself", pid, inner)
	return 0
}
