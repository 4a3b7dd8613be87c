package scorer

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

const (
	firstID  = 1_000_001
	warmup   = 20
	requests = 200
)

var steps = []string{"read", "validate", "lookup", "build", "predict", "serialize"}

// TestMain renames this process, which would be scorer.test, so that pgrep
// scorer finds the service alone.
func TestMain(m *testing.M) {
	if err := os.WriteFile("/proc/self/comm", []byte("go test"), 0); err != nil {
		fmt.Fprintln(os.Stderr, "rename the test process:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestEachRequestLeavesARowAndAWindow(t *testing.T) {
	python := needPython(t)
	dir := t.TempDir()
	service := startService(t, python, dir)
	if got := pgrep(t); !slices.Contains(got, service.pid) || slices.Contains(got, os.Getpid()) {
		t.Errorf("pgrep scorer finds %v; the service is %d and this test %d", got, service.pid, os.Getpid())
	}
	shm, err := os.Open(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", service.pid))
	if err != nil {
		t.Fatal(err)
	}
	defer shm.Close() // the service removes the file when it ends

	rowsFile := filepath.Join(dir, "rows.jsonl")
	runClient(t, python, service.port, rowsFile, "--requests", strconv.Itoa(requests), "--warmup", strconv.Itoa(warmup))
	service.stop(t)

	rows, windows := readRows(t, rowsFile), readWindows(t, shm)
	if len(rows) != warmup+requests {
		t.Fatalf("%d rows, want %d", len(rows), warmup+requests)
	}
	for i, r := range rows {
		if r.ID != uint64(firstID+i) || r.Status != 200 || r.Error != "" || r.Warmup != (i < warmup) {
			t.Fatalf("row %d: %+v", i, r)
		}
		w, ok := windows[r.ID]
		if !ok {
			t.Fatalf("request %d has no window", r.ID)
		}
		if diff := cmp.Diff(steps, w.marks); diff != "" {
			t.Fatalf("steps of request %d (-want +got):\n%s", r.ID, diff)
		}
		if w.begin < r.Send || w.begin >= w.end || w.begin > r.Recv {
			t.Errorf("request %d was sent at %d and answered at %d, but its window is %d to %d",
				r.ID, r.Send, r.Recv, w.begin, w.end)
		}
	}
}

type service struct {
	pid, port int
	cmd       *exec.Cmd
}

// startService starts the service and waits until it is ready.
func startService(t *testing.T, python, dir string) *service {
	s := &service{cmd: exec.Command(python, "service.py", "--dir", dir)}
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	if _, err := fmt.Fscanf(out, "ready pid=%d port=%d\n", &s.pid, &s.port); err != nil {
		t.Fatalf("the service did not say that it is ready: %v", err)
	}
	if s.pid != s.cmd.Process.Pid {
		t.Errorf("the service says that its pid is %d; it is %d", s.pid, s.cmd.Process.Pid)
	}
	return s
}

// stop ends the service as an operator does, and wants it to end well.
func (s *service) stop(t *testing.T) {
	ended := make(chan error, 1)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the service ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the service does not end")
	}
}

// needPython returns the interpreter that has the packages of the scorer.
func needPython(t *testing.T) string {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "/usr/bin/python3"
	}
	err := exec.Command(python, "-c", "import fastapi, uvicorn, uvloop, httptools, sklearn").Run()
	testenv.Need(t, err == nil, python+" with fastapi, uvicorn, uvloop, httptools and sklearn")
	return python
}

func pgrep(t *testing.T) (pids []int) {
	out, err := exec.Command("pgrep", "scorer").Output()
	if err != nil {
		t.Fatalf("pgrep scorer: %v", err)
	}
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

type window struct {
	begin, end int64
	marks      []string
}

func readWindows(t *testing.T, shm *os.File) map[uint64]window {
	r, err := ring.NewReader(shm)
	if err != nil {
		t.Fatal(err)
	}
	windows := map[uint64]window{}
	for s := (ring.Slot{}); r.Next(&s); {
		if s.Type != ring.Request {
			continue
		}
		w := window{begin: s.Begin, end: s.End}
		for _, p := range s.Points {
			if p.Type == ring.Mark {
				w.marks = append(w.marks, r.Name(p.Name))
			}
		}
		windows[binary.LittleEndian.Uint64(s.ID[:])] = w
	}
	if r.Err() != nil || r.Lost() > 0 {
		t.Fatalf("read the ring: %v, %d lost", r.Err(), r.Lost())
	}
	return windows
}
