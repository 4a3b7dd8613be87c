package ringfollow

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

const (
	minPause   = 50 * time.Millisecond // between two looks at a process's threads
	maxThreads = 1 << 17
)

// threads translates the thread ids that a process sees into those that the
// recorder sees.
type threads struct {
	pid     int
	nested  bool // the process is in a pid namespace of its own
	byInner map[uint32]int32
	next    time.Time // when to look again at the earliest
	gone    uint64    // ids asked for that no thread had any more
}

// outer returns the recorder's id for the thread that the process sees as tid,
// 0 where there is no such thread.
func (t *threads) outer(tid uint32) int32 {
	if tid == 0 {
		return 0
	}
	if !t.nested {
		return int32(min(tid, math.MaxInt32))
	}
	id, ok := t.byInner[tid]
	if !ok && time.Now().After(t.next) {
		t.refresh()
		id, ok = t.byInner[tid]
	}
	if !ok {
		t.gone++
	}
	return id
}

// refresh reads the threads that there are now. Those that have gone since are
// kept: their last windows may be still to come.
func (t *threads) refresh() {
	begin := time.Now()
	defer func() { // a process with very many threads costs no more than 5% of the time
		now := time.Now()
		t.next = now.Add(max(minPause, 20*now.Sub(begin)))
	}()
	if t.byInner == nil || len(t.byInner) > maxThreads {
		t.byInner = make(map[uint32]int32)
	}
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
	for _, e := range entries {
		outer, err := strconv.ParseInt(e.Name(), 10, 32)
		if err != nil {
			continue
		}
		inner, _, err := innerPid(fmt.Sprintf("/proc/%d/task/%d/status", t.pid, outer))
		if err == nil {
			t.byInner[uint32(inner)] = int32(outer)
		}
	}
}
