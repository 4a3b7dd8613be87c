package collector

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// NoProcessError says that there is no process with a pid the user gave.
type NoProcessError struct{ Pid int }

func (e *NoProcessError) Error() string {
	return fmt.Sprintf("find process %d: no such process", e.Pid)
}

// ThreadError says that a number is the id of a thread, not of a process.
type ThreadError struct {
	Tid  int
	Pid  int // the process that the thread belongs to
	Comm string
}

func (e *ThreadError) Error() string {
	return fmt.Sprintf("find process %d: it is a thread of process %d (%s)", e.Tid, e.Pid, e.Comm)
}

// resolver reads processes from a /proc.
type resolver struct{ root string }

// targets describes the processes the user named, each once.
func (r resolver) targets(pids []int) ([]eventfile.Target, error) {
	if len(pids) == 0 {
		return nil, errors.New("find processes: no pid given")
	}
	var found []eventfile.Target
	seen := make(map[int]bool)
	for _, pid := range pids {
		if seen[pid] {
			continue
		}
		seen[pid] = true
		t, err := r.target(pid)
		if err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, nil
}

func (r resolver) target(pid int) (eventfile.Target, error) {
	if pid <= 0 {
		return eventfile.Target{}, &NoProcessError{pid}
	}
	dir := r.root + "/" + strconv.Itoa(pid)
	raw, err := os.ReadFile(dir + "/status")
	if errors.Is(err, fs.ErrNotExist) {
		return eventfile.Target{}, &NoProcessError{pid}
	}
	if err != nil {
		return eventfile.Target{}, fmt.Errorf("find process %d: %w", pid, errors.Unwrap(err))
	}
	status := parseStatus(string(raw))
	if tgid, err := strconv.Atoi(status["Tgid"]); err == nil && tgid != pid {
		return eventfile.Target{}, &ThreadError{Tid: pid, Pid: tgid, Comm: r.comm(tgid)}
	}
	if strings.HasPrefix(status["State"], "Z") && status["Threads"] == "1" {
		return eventfile.Target{}, fmt.Errorf("find process %d: it has ended (zombie)", pid)
	}
	if status["Kthread"] == "1" {
		return eventfile.Target{}, fmt.Errorf("find process %d: it is a kernel thread (%s)", pid, r.comm(pid))
	}
	return eventfile.Target{
		Pid:     int32(pid),
		Comm:    r.comm(pid),
		Cmdline: readCmdline(dir),
		Cgroup:  readCgroup(dir),
	}, nil
}

// descendants are the children of processes, theirs, and so on, without this
// process.
func (r resolver) descendants(pids []int32) []int32 {
	children := make(map[int32][]int32)
	for pid, p := range processes(r.root) {
		if pid != os.Getpid() {
			children[int32(p.parent)] = append(children[int32(p.parent)], int32(pid))
		}
	}
	var found []int32
	for next := pids; len(next) > 0; {
		var of []int32
		for _, pid := range next {
			of = append(of, children[pid]...)
			delete(children, pid) // one process may be another's, and both be given
		}
		found, next = append(found, of...), of
	}
	return found
}

func (r resolver) comm(pid int) string {
	raw, err := os.ReadFile(r.root + "/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(raw), "\n")
}

// alive reports whether the process has a thread that has not ended.
func (r resolver) alive(pid int32) bool {
	raw, err := os.ReadFile(r.root + "/" + strconv.Itoa(int(pid)) + "/status")
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	status := parseStatus(string(raw))
	return !strings.HasPrefix(status["State"], "Z") || status["Threads"] != "1"
}

// parseStatus reads /proc/PID/status: lines of key, colon, value.
func parseStatus(text string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[key] = strings.TrimSpace(value)
		}
	}
	return fields
}
