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
	missed []addrRange         // of faults in none of them since
	isNew  bool                // never read
	next   eventfile.Time      // not read before
	wait   eventfile.Time      // after a read
	room   int                 // for more records
}

type addrRange struct{ start, end uint64 }

const (
	mapsEvery      = eventfile.Time(250 * time.Millisecond)
	mapsSeldom     = eventfile.Time(2 * time.Second) // where reading did not help
	maxMapsBytes   = 8 << 20
	maxMapRecords  = 1 << 15 // of one process
	maxMapSpaces   = 1 << 12
	userHalfOfBits = 1 << 63 // addresses from here on are the kernel's
	maxMissed      = 16      // ranges between two reads
	missedNear     = 2 << 20 // faults not further apart are of one range
)

func newMapTracker() *mapTracker {
	return &mapTracker{root: "/proc", spaces: make(map[int32]*addressSpace)}
}

// add has a process read in the next round.
func (m *mapTracker) add(pid int32) *addressSpace {
	if len(m.spaces) >= maxMapSpaces {
		clear(m.spaces)
	}
	s := &addressSpace{isNew: true, wait: mapsEvery, room: maxMapRecords}
	m.spaces[pid] = s
	return s
}

// forget drops a process that has ended or become another program.
func (m *mapTracker) forget(pid int32) { delete(m.spaces, pid) }

// hurry has the next round read whatever is left to explain.
func (m *mapTracker) hurry() {
	for _, s := range m.spaces {
		s.next = 0
	}
}

// fault notes a fault of process pid.
func (m *mapTracker) fault(pid int32, addr uint64) {
	if addr == 0 || addr >= userHalfOfBits {
		return
	}
	s := m.spaces[pid]
	if s == nil {
		s = m.add(pid)
	}
	page := addr &^ (1<<12 - 1)
	if r := (addrRange{page, page + 1<<12}); !s.holds(r) {
		s.miss(r)
	}
}

// holds reports whether something is mapped in r.
func (s *addressSpace) holds(r addrRange) bool {
	i, _ := slices.BinarySearchFunc(s.known, r.start, func(m eventfile.Mapping, a uint64) int { return cmp.Compare(m.End, a+1) })
	return i < len(s.known) && s.known[i].Start < r.end
}

func (s *addressSpace) miss(r addrRange) {
	for i := range s.missed {
		m := &s.missed[i]
		if r.start < m.end+missedNear && m.start < r.end+missedNear {
			m.start, m.end = min(m.start, r.start), max(m.end, r.end)
			return
		}
	}
	if len(s.missed) < maxMissed {
		s.missed = append(s.missed, r)
	}
}

// round reads the processes that need it and passes on what is new. Faults
// that reading does not explain make it wait longer for the next.
func (m *mapTracker) round(t eventfile.Time, each func(*eventfile.Mapping) error) error {
	for pid, s := range m.spaces {
		if !s.isNew && len(s.missed) == 0 || t < s.next || s.room <= 0 {
			continue
		}
		if err := m.read(pid, s, t, each); err != nil {
			return err
		}
		gone, err := s.explain(pid, t, each)
		if err != nil {
			return err
		}
		s.wait = min(2*s.wait, mapsSeldom)
		if s.isNew || !gone {
			s.wait = mapsEvery
		}
		s.isNew, s.missed, s.next = false, s.missed[:0], t+s.wait
	}
	return nil
}

// explain says of the faults that lay in no mapping which still do not.
func (s *addressSpace) explain(pid int32, t eventfile.Time, each func(*eventfile.Mapping) error) (gone bool, err error) {
	for _, r := range s.missed {
		if s.holds(r) || s.room <= 0 {
			continue
		}
		gone = true
		s.room--
		k := eventfile.Mapping{Pid: pid, Time: t, Start: r.start, End: r.end, Path: eventfile.MappingGone}
		if err := each(&k); err != nil {
			return gone, err
		}
	}
	return gone, nil
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
