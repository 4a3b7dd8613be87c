package collector

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// ownerResolver checks the numbers that the kernel side found where a glibc
// mutex has its owner. They count only if they are a thread of the same
// process, and are translated from its pid namespace.
type ownerResolver struct {
	root  string // "/proc"
	tasks *taskCache
	procs map[int32]*threadIDs
}

// threadIDs leads from thread ids as a process sees them to ours.
type threadIDs struct {
	nested bool // the process is in a pid namespace below ours
	outer  map[int32]int32
	asOf   eventfile.Time
}

// A process's threads are listed anew at most this often.
const threadListAge = eventfile.Time(time.Second)

func newOwnerResolver(tasks *taskCache) *ownerResolver {
	return &ownerResolver{root: "/proc", tasks: tasks, procs: make(map[int32]*threadIDs)}
}

// resolve returns our thread id for the owner word of a lock in process pid
// at time t, or 0.
func (o *ownerResolver) resolve(pid, word int32, t eventfile.Time) int32 {
	if word <= 0 {
		return 0
	}
	ids := o.procs[pid]
	if ids == nil || (ids.outer[word] == 0 && t-ids.asOf >= threadListAge) {
		ids = o.list(pid)
		ids.asOf = t
		o.procs[pid] = ids
	}
	if tid := ids.outer[word]; tid != 0 || ids.nested {
		return tid
	}
	// The thread may have begun or ended since; the events know it then.
	if task, ok := o.tasks.known[word]; ok && task.tgid == pid {
		return word
	}
	return 0
}

func (o *ownerResolver) list(pid int32) *threadIDs {
	ids := &threadIDs{outer: make(map[int32]int32)}
	dir := o.root + "/" + strconv.Itoa(int(pid)) + "/task/"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return ids // it has ended
	}
	for _, task := range tasks {
		status, err := os.ReadFile(dir + task.Name() + "/status")
		if err != nil {
			continue
		}
		tid, inner := parseNSpid(parseStatus(string(status))["NSpid"])
		ids.outer[inner] = tid
		ids.nested = ids.nested || inner != tid
	}
	return ids
}

// parseNSpid reads the ids of a thread from our namespace inwards.
func parseNSpid(list string) (ours, inner int32) {
	for i, f := range strings.Fields(list) {
		n, err := strconv.ParseInt(f, 10, 32)
		if err != nil {
			return 0, 0
		}
		if i == 0 {
			ours = int32(n)
		}
		inner = int32(n)
	}
	return ours, inner
}

// forget drops a process that has ended.
func (o *ownerResolver) forget(pid int32) { delete(o.procs, pid) }
