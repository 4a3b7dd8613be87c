package symbols

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// refreshEvery is how often a process's mappings and perf map are read anew
// at most. Code that is loaded and called within less has no names at first.
const refreshEvery = time.Second

// process is the address space of one traced process as last read.
type process struct {
	dir     string
	pid     int
	inner   int    // pid in its own namespace, which its perf map is named by
	program uint64 // inode of what it runs
	maps    []mapping
	jit     perfMap
	mapsAt  time.Time
	jitAt   time.Time
}

func newProcess(root string, pid int32) *process {
	p := &process{dir: fmt.Sprintf("%s/%d", root, pid), pid: int(pid)}
	p.inner = p.innerPid()
	return p
}

// innerPid is the last of the pids in /proc/PID/status, or where that has
// none the one that is known.
func (p *process) innerPid() int {
	status, err := os.ReadFile(p.dir + "/status")
	if err != nil {
		return p.pid
	}
	for line := range bytes.Lines(status) {
		if ids, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			fields := bytes.Fields(ids)
			if n, err := strconv.Atoi(string(fields[len(fields)-1])); err == nil {
				return n
			}
		}
	}
	return p.pid
}

// update reads the mappings if the process became another program or they are
// old. A process that has ended keeps what it had.
func (p *process) update(now time.Time) {
	var exe unix.Stat_t
	if unix.Stat(p.dir+"/exe", &exe) == nil && exe.Ino != p.program {
		p.program, p.jit = exe.Ino, perfMap{}
		p.mapsAt, p.jitAt = time.Time{}, time.Time{}
	}
	if now.Sub(p.mapsAt) < refreshEvery {
		return
	}
	p.mapsAt = now
	if list, err := readMaps(p.dir); err == nil && len(list) > 0 {
		p.maps = list
	}
}

// jitSymbol returns the function that a runtime has compiled to addr.
func (p *process) jitSymbol(addr uint64, now time.Time) string {
	if _, name, ok := p.jit.table.find(addr); ok {
		return name
	}
	if now.Sub(p.jitAt) < refreshEvery {
		return ""
	}
	p.jitAt = now
	if p.jit.refresh(p.dir, p.inner) != nil {
		return "" // most processes have none
	}
	_, name, _ := p.jit.table.find(addr)
	return name
}
