package collector

import (
	"bytes"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// identity is who a tid is, as far as the file says.
type identity struct {
	tgid  int32
	start uint64
	flags uint32
	comm  [16]byte
}

// taskCache remembers which identities the file has, so that a KindTask is
// written before the first event of a tid and when its identity changes, and
// not otherwise.
type taskCache struct {
	known map[int32]identity
}

// maxKnownTasks bounds the cache. Forgetting costs only repeated KindTasks.
const maxKnownTasks = 1 << 16

func newTaskCache() *taskCache {
	return &taskCache{known: make(map[int32]identity)}
}

// idle is the one identity of all CPUs' idle tasks, which share tid 0.
var idle = identity{flags: uint32(eventfile.FlagKthread), comm: [16]byte{'s', 'w', 'a', 'p', 'p', 'e', 'r'}}

// see returns the KindTask event that must come before an event at time t
// that names id, or false where the file knows it already.
func (c *taskCache) see(id *bpf.KernelTaskId, t eventfile.Time) (eventfile.Event, bool) {
	tid := int32(id.Tid)
	now := identity{int32(id.Tgid), id.Start, id.Flags, id.Comm}
	if tid == 0 {
		now = idle
	}
	if old, ok := c.known[tid]; ok && old == now {
		return eventfile.Event{}, false
	}
	if len(c.known) >= maxKnownTasks {
		clear(c.known)
	}
	c.known[tid] = now
	e := eventfile.Event{
		Kind:    eventfile.KindTask,
		Flags:   eventfile.Flags(now.flags),
		Time:    t,
		Tid:     tid,
		Tgid:    now.tgid,
		Start:   now.start,
		Comm:    commString(now.comm),
		Syscall: eventfile.NoSyscall,
	}
	return e, true
}

// commString is the name up to its NUL: bytes, not always UTF-8.
func commString(comm [16]byte) string {
	name, _, _ := bytes.Cut(comm[:], []byte{0})
	return string(name)
}

// targetSet is the traced processes that live, as the events tell it.
type targetSet struct {
	live map[int32]bool
}

func newTargetSet(pids ...int32) *targetSet {
	s := &targetSet{live: make(map[int32]bool)}
	for _, p := range pids {
		s.live[p] = true
	}
	return s
}

// see follows children and ends; ended says that process tgid has.
func (s *targetSet) see(e *eventfile.Event, tgid int32) (ended bool) {
	switch {
	case e.Kind == eventfile.KindFork && e.Flags&eventfile.FlagTarget != 0:
		s.live[e.Tgid] = true
	case e.Kind == eventfile.KindExit && e.Flags&eventfile.FlagLast != 0:
		delete(s.live, tgid)
		return true
	}
	return false
}

// check drops processes that have ended without an event, which can be lost.
func (s *targetSet) check(r resolver) {
	for pid := range s.live {
		if !r.alive(pid) {
			delete(s.live, pid)
		}
	}
}

func (s *targetSet) pids() []int {
	pids := make([]int, 0, len(s.live))
	for p := range s.live {
		pids = append(pids, int(p))
	}
	return pids
}
