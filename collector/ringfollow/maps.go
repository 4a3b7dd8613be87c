package ringfollow

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/tailtrace/tailtrace/ring"
)

const (
	maxMaps       = 16 << 20 // bytes of a maps file that are looked at
	maxCandidates = 8        // rings of one process
)

// fileID tells files apart.
type fileID struct {
	major, minor uint32
	ino          uint64
}

// mapping is a line of /proc/<pid>/maps that may be a ring.
type mapping struct {
	start, end uint64
	file       fileID
	path       string // as the kernel has it, without " (deleted)"
	memfd      bool
	deleted    bool
	pid        int // in the file's name: as the service sees itself
}

// candidates returns the mappings of a process that are named like a ring, one
// for each file.
func candidates(pid int) ([]mapping, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readMaps(f)
}

func readMaps(r io.Reader) ([]mapping, error) {
	var found []mapping
	lines := bufio.NewReader(io.LimitReader(r, maxMaps))
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return found, err
		}
		m, ok := parseMapping(strings.TrimSuffix(line, "\n"))
		if ok && len(found) < maxCandidates && !hasFile(found, m.file) {
			found = append(found, m)
		}
	}
}

func hasFile(ms []mapping, f fileID) bool {
	for _, m := range ms {
		if m.file == f {
			return true
		}
	}
	return false
}

// parseMapping parses a line of the form
//
//	7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42    /dev/shm/tailtrace-7.ring (deleted)
//
// and is false for all that is not named like a ring.
func parseMapping(line string) (m mapping, ok bool) {
	if !strings.Contains(line, "tailtrace-") { // nearly all lines end here
		return m, false
	}
	var fields [5]string
	rest := line
	for i := range fields {
		fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	m.path, m.deleted = strings.CutSuffix(strings.TrimLeft(rest, " "), " (deleted)")
	name, memfd := strings.CutPrefix(m.path, "/memfd:")
	if m.memfd = memfd; !memfd {
		name = path.Base(m.path)
	}
	if m.pid, ok = ring.PidOfName(name); !ok {
		return m, false
	}
	start, end, _ := strings.Cut(fields[0], "-")
	major, minor, _ := strings.Cut(fields[3], ":")
	numbers := []struct {
		text string
		base int
		to   func(uint64)
	}{
		{start, 16, func(n uint64) { m.start = n }},
		{end, 16, func(n uint64) { m.end = n }},
		{major, 16, func(n uint64) { m.file.major = uint32(n) }},
		{minor, 16, func(n uint64) { m.file.minor = uint32(n) }},
		{fields[4], 10, func(n uint64) { m.file.ino = n }},
	}
	for _, n := range numbers {
		v, err := strconv.ParseUint(n.text, n.base, 64)
		if err != nil {
			return m, false
		}
		n.to(v)
	}
	return m, true
}
