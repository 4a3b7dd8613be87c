package collector

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// mapTracker keeps what is mapped where in the traced processes, so that the
// addresses of their faults have names. It reads a process's mappings at the
// start, and again when a fault lies in none that it knows.
type mapTracker struct {
	root   string // "/proc"
	spaces map[int32]*addressSpace
}

// addressSpace is one process's mappings as they were last read.
type addressSpace struct {
	known  []eventfile.Mapping // by address
	missed uint64              // of a fault in none of them; 0 = none since
	next   eventfile.Time      // not read before
	wait   eventfile.Time      // after a read
	room   int                 // for more records
}

const (
	mapsEvery      = eventfile.Time(250 * time.Millisecond)
	mapsSeldom     = eventfile.Time(8 * time.Second) // where reading did not help
	maxMapsBytes   = 8 << 20
	maxMapRecords  = 1 << 15 // of one process
	maxMapSpaces   = 1 << 12
	userHalfOfBits = 1 << 63 // addresses from here on are the kernel's
)

func newMapTracker() *mapTracker {
	return &mapTracker{root: "/proc", spaces: make(map[int32]*addressSpace)}
}

// add has a process read in the next round.
func (m *mapTracker) add(pid int32) *addressSpace {
	if len(m.spaces) >= maxMapSpaces {
		clear(m.spaces)
	}
	s := &addressSpace{missed: 1, wait: mapsEvery, room: maxMapRecords}
	m.spaces[pid] = s
	return s
}

// forget drops a process that has ended or become another program.
func (m *mapTracker) forget(pid int32) { delete(m.spaces, pid) }

// fault notes a fault of process pid.
func (m *mapTracker) fault(pid int32, addr uint64) {
	if addr == 0 || addr >= userHalfOfBits {
		return
	}
	s := m.spaces[pid]
	if s == nil {
		s = m.add(pid)
	}
	if !s.holds(addr) {
		s.missed = addr
	}
}

func (s *addressSpace) holds(addr uint64) bool {
	i, _ := slices.BinarySearchFunc(s.known, addr, func(m eventfile.Mapping, a uint64) int { return cmp.Compare(m.End, a+1) })
	return i < len(s.known) && s.known[i].Start <= addr
}

// round reads the processes that need it and passes on what is new. A fault
// that reading does not explain makes it wait longer for the next.
func (m *mapTracker) round(t eventfile.Time, each func(*eventfile.Mapping) error) error {
	for pid, s := range m.spaces {
		if s.missed == 0 || t < s.next || s.room <= 0 {
			continue
		}
		missed := s.missed
		s.missed = 0
		if err := m.read(pid, s, t, each); err != nil {
			return err
		}
		if s.holds(missed) || missed == 1 {
			s.wait = mapsEvery
		} else {
			s.wait = min(2*s.wait, mapsSeldom)
		}
		s.next = t + s.wait
	}
	return nil
}

func (m *mapTracker) read(pid int32, s *addressSpace, t eventfile.Time, each func(*eventfile.Mapping) error) error {
	f, err := os.Open(m.root + "/" + strconv.Itoa(int(pid)) + "/maps")
	if err != nil {
		return nil // it has ended
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMapsBytes))
	if err != nil {
		return nil
	}
	before := make(map[eventfile.Mapping]bool, len(s.known))
	for _, k := range s.known {
		before[k] = true
	}
	s.known = parseMappings(text)
	for _, k := range s.known {
		if before[k] || s.room <= 0 {
			continue
		}
		s.room--
		k.Pid, k.Time = pid, t
		if err := each(&k); err != nil {
			return err
		}
	}
	return nil
}

// parseMappings reads /proc/PID/maps: lines of range, permissions, offset,
// device, inode, and perhaps a path, which may have spaces.
func parseMappings(text []byte) []eventfile.Mapping {
	var list []eventfile.Mapping
	for line := range bytes.Lines(text) {
		var words [5][]byte
		rest := bytes.TrimRight(line, "\n")
		for i := range words {
			words[i], rest, _ = bytes.Cut(rest, []byte{' '})
		}
		from, to, _ := bytes.Cut(words[0], []byte{'-'})
		start, err1 := strconv.ParseUint(string(from), 16, 64)
		end, err2 := strconv.ParseUint(string(to), 16, 64)
		if err1 != nil || err2 != nil || end <= start {
			continue
		}
		list = append(list, eventfile.Mapping{
			Start: start,
			End:   end,
			Perms: string(words[1]),
			Path:  string(bytes.TrimLeft(rest, " ")),
		})
	}
	return list
}
