package collector

import (
	"iter"
	"os"
	"strconv"
	"strings"
)

// procStat is some of /proc/PID/stat.
type procStat struct {
	comm   string
	parent int
	cpu    int64 // ns
}

// parseProcStat finds the comm between the first and the last bracket: it may
// have any in it.
func parseProcStat(text string) (p procStat, ok bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return p, false
	}
	p.comm = text[open+1 : end]
	fields := strings.Fields(text[end+1:]) // from the third, the state
	if len(fields) < 13 {
		return p, false
	}
	p.parent, _ = strconv.Atoi(fields[1])
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	p.cpu = (user + system) * nsPerTick
	return p, true
}

// processes are those that a /proc tells of, by pid.
func processes(proc string) iter.Seq2[int, procStat] {
	return func(yield func(int, procStat) bool) {
		dirs, _ := os.ReadDir(proc)
		for _, d := range dirs {
			pid, err := strconv.Atoi(d.Name())
			if err != nil {
				continue
			}
			text, _ := os.ReadFile(proc + "/" + d.Name() + "/stat")
			if p, ok := parseProcStat(string(text)); ok && !yield(pid, p) {
				return
			}
		}
	}
}
