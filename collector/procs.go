package collector

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// procNamer finds out what the processes that turn up in events are. It reads
// /proc a little later and a few at a time, so a crowd of short-lived
// processes costs neither time nor order.
type procNamer struct {
	root    string // "/proc"
	self    int32
	bare    bool // without the command lines of others
	named   map[int32]bool
	waiting []eventfile.Proc
}

const (
	procsPerRound  = 16
	maxProcWaiting = 4096
	maxProcNamed   = 1 << 16
)

func newProcNamer(self int32, bare bool) *procNamer {
	return &procNamer{root: "/proc", self: self, bare: bare, named: make(map[int32]bool)}
}

// see notes the process of a task. isNew says that the file has not had the
// task by this name yet: a leader may then be another process, or have become
// another program.
func (p *procNamer) see(id *bpf.KernelTaskId, isNew bool) {
	pid := int32(id.Tgid)
	flags := eventfile.Flags(id.Flags)
	if pid == 0 || flags&eventfile.FlagKthread != 0 {
		return
	}
	if p.named[pid] && !(isNew && id.Tid == id.Tgid) {
		return
	}
	if len(p.waiting) >= maxProcWaiting || p.isWaiting(pid) {
		return // what could not be noted is seen again when it runs again
	}
	if len(p.named) >= maxProcNamed {
		clear(p.named)
	}
	p.named[pid] = true
	p.waiting = append(p.waiting, eventfile.Proc{
		Pid:    pid,
		Comm:   commString(id.Comm),
		Self:   pid == p.self,
		Target: flags&eventfile.FlagTarget != 0,
	})
}

func (p *procNamer) isWaiting(pid int32) bool {
	return slices.ContainsFunc(p.waiting, func(w eventfile.Proc) bool { return w.Pid == pid })
}

// round reads up to n of those that wait and passes them on. What is gone
// keeps the name it had in its event.
func (p *procNamer) round(n int, each func(*eventfile.Proc) error) error {
	n = min(n, len(p.waiting))
	for i := range p.waiting[:n] {
		proc := &p.waiting[i]
		p.read(proc)
		if err := each(proc); err != nil {
			return err
		}
	}
	p.waiting = p.waiting[:copy(p.waiting, p.waiting[n:])]
	return nil
}

func (p *procNamer) read(proc *eventfile.Proc) {
	dir := p.root + "/" + strconv.Itoa(int(proc.Pid))
	if comm, err := os.ReadFile(dir + "/comm"); err == nil {
		proc.Comm = strings.TrimSuffix(string(comm), "\n")
	}
	if proc.Self || proc.Target || !p.bare {
		proc.Cmdline = readCmdline(dir)
	}
	proc.Cgroup = readCgroup(dir)
}

// readCmdline returns the arguments joined by spaces, or "".
func readCmdline(dir string) string {
	raw, err := os.ReadFile(dir + "/cmdline")
	if err != nil {
		return ""
	}
	raw = bytes.TrimRight(raw, "\x00")
	return string(bytes.ReplaceAll(raw, []byte{0}, []byte{' '}))
}

// readCgroup returns the process's cgroup path: that of the cpu controller in
// version 1, unless this is only its root, else that of version 2.
func readCgroup(dir string) string {
	raw, err := os.ReadFile(dir + "/cgroup")
	if err != nil {
		return ""
	}
	c := parseCgroup(string(raw))
	if c.unified != "" && (c.cpu == "" || c.cpu == "/") {
		return c.unified
	}
	return c.cpu
}

// cgroupPaths are a process's paths in the hierarchies that matter here.
type cgroupPaths struct {
	unified string // version 2; "" where there is none
	cpu     string // version 1, the hierarchy of the cpu controller
}

// parseCgroup reads /proc/PID/cgroup: lines of id:controllers:path.
func parseCgroup(text string) cgroupPaths {
	var c cgroupPaths
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" && parts[1] == "" {
			c.unified = parts[2]
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "cpu" {
				c.cpu = parts[2]
			}
		}
	}
	return c
}
