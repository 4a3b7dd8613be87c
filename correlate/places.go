package correlate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// places names addresses and descriptors of the traced processes.
type places struct {
	maps map[int32]*addressSpace
	fds  map[fdKey][]eventfile.Fd // by time
}

type fdKey struct{ pid, fd int32 }

// addressSpace is all that was ever seen mapped in a process, by start.
type addressSpace struct {
	list   []eventfile.Mapping
	topEnd []uint64 // the highest end of list[:i+1]
}

// place is what is mapped at an address.
type place struct {
	name string
	// firstTouch: a page of a file that is not written to, so that a minor
	// fault there can only be the process's first touch of it, or the first
	// since the kernel took it away. Writable mappings also have faults that
	// copy, which the events do not tell apart.
	firstTouch bool
}

func newPlaces() *places {
	return &places{maps: map[int32]*addressSpace{}, fds: map[fdKey][]eventfile.Fd{}}
}

func (p *places) addMapping(m *eventfile.Mapping) {
	s := p.maps[m.Pid]
	if s == nil {
		s = &addressSpace{}
		p.maps[m.Pid] = s
	}
	s.list = append(s.list, *m)
}

func (p *places) addFd(f *eventfile.Fd) {
	k := fdKey{f.Pid, f.Fd}
	p.fds[k] = append(p.fds[k], *f)
}

// index makes ready for look-ups.
func (p *places) index() {
	for _, s := range p.maps {
		slices.SortStableFunc(s.list, func(a, b eventfile.Mapping) int { return cmp.Compare(a.Start, b.Start) })
		s.topEnd = make([]uint64, len(s.list))
		top := uint64(0)
		for i := range s.list {
			top = max(top, s.list[i].End)
			s.topEnd[i] = top
		}
	}
	for _, list := range p.fds {
		slices.SortStableFunc(list, func(a, b eventfile.Fd) int { return cmp.Compare(a.Time, b.Time) })
	}
}

// at returns what was mapped at an address of process pid at time t: as last
// read before, or else as first read after, which may be that it had gone.
func (p *places) at(pid int32, addr uint64, t Time) place {
	if p == nil || p.maps[pid] == nil {
		return place{}
	}
	s := p.maps[pid]
	i, _ := slices.BinarySearchFunc(s.list, addr, func(m eventfile.Mapping, a uint64) int { return cmp.Compare(m.Start, a+1) })
	var best *eventfile.Mapping
	for i--; i >= 0 && s.topEnd[i] > addr; i-- {
		m := &s.list[i]
		if m.End <= addr || m.Path == eventfile.MappingGone && m.Time < t {
			continue
		}
		if best == nil || nearer(m.Time, best.Time, t) {
			best = m
		}
	}
	if best == nil {
		return place{}
	}
	return placeOf(best)
}

// nearer reports whether a mapping read at a tells more of time t than one
// read at b.
func nearer(a, b, t Time) bool {
	switch {
	case a <= t && b <= t:
		return a > b
	case a > t && b > t:
		return a < b
	}
	return a <= t
}

func placeOf(m *eventfile.Mapping) place {
	switch {
	case m.Path == "":
		return place{name: "anonymous memory"}
	case m.Path == eventfile.MappingGone:
		return place{name: "memory that was unmapped soon after"}
	case m.Path == "[heap]":
		return place{name: "heap"}
	case strings.HasPrefix(m.Path, "[stack"):
		return place{name: "stack"}
	case strings.HasPrefix(m.Path, "[anon"):
		return place{name: "anonymous memory " + m.Path}
	}
	isFile := strings.HasPrefix(m.Path, "/")
	return place{name: m.Path, firstTouch: isFile && !strings.Contains(m.Perms, "w")}
}

// object names what a thread that is off the CPU waits for: the file or
// socket behind a system call's descriptor, or what is mapped where it faults.
func (p *places) object(b *timeline.Block) string {
	if p == nil {
		return ""
	}
	if b.Addr != 0 {
		return p.at(b.Pid, b.Addr, b.Since).name
	}
	if !eventfile.IsDescriptorCall(b.Syscall) || b.Args[0] > 1<<31-1 {
		return ""
	}
	list := p.fds[fdKey{b.Pid, int32(b.Args[0])}]
	if len(list) == 0 {
		return ""
	}
	best := list[0]
	for _, f := range list[1:] {
		if b.Distance(f.Time) <= b.Distance(best.Time) {
			best = f
		}
	}
	return best.Name + asOf(list, b, best.Time)
}

// asOf says how far from the wait a descriptor was looked at, where it stood
// for several things in its time.
func asOf(list []eventfile.Fd, b *timeline.Block, t Time) string {
	d := time.Duration(b.Distance(t)).Round(time.Millisecond)
	if d == 0 || !slices.ContainsFunc(list, func(f eventfile.Fd) bool { return f.Name != list[0].Name }) {
		return ""
	}
	if t < b.Since {
		return fmt.Sprintf(" (as of %s before)", d)
	}
	return fmt.Sprintf(" (as of %s later)", d)
}
