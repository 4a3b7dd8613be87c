package symbols

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// mapping is an executable part of a process's address space.
type mapping struct {
	start, end uint64
	offset     uint64 // of start in the file
	dev        string
	inode      uint64
	path       string // as the kernel has it, "" for anonymous memory
}

// deletedMark is what the kernel puts behind the path of a file that is gone.
const deletedMark = " (deleted)"

func (m *mapping) name() string { return strings.TrimSuffix(m.path, deletedMark) }

func (m *mapping) isFile() bool { return strings.HasPrefix(m.path, "/") && m.inode != 0 }

const (
	maxMapsBytes = 32 << 20
	maxMappings  = 1 << 16
)

// readMaps returns the executable mappings of a process, by address.
func readMaps(dir string) ([]mapping, error) {
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseMaps(f)
}

func parseMaps(r io.Reader) ([]mapping, error) {
	var list []mapping
	lines := bufio.NewScanner(io.LimitReader(r, maxMapsBytes))
	for lines.Scan() && len(list) < maxMappings {
		if m, ok := parseMapping(lines.Text()); ok {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b mapping) int { return cmp.Compare(a.start, b.start) })
	return list, lines.Err()
}

// parseMapping takes a line such as
//
//	55d0c7a00000-55d0c7a21000 r-xp 00002000 fe:00 1234    /usr/bin/scorer
func parseMapping(line string) (m mapping, ok bool) {
	var fields [5]string
	rest := line
	for i := range fields {
		fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
	}
	if perms := fields[1]; len(perms) < 3 || perms[2] != 'x' { // nearly all end here
		return m, false
	}
	m.dev, m.path = fields[3], strings.TrimLeft(rest, " ")
	start, end, _ := strings.Cut(fields[0], "-")
	for _, n := range []struct {
		to   *uint64
		text string
		base int
	}{{&m.start, start, 16}, {&m.end, end, 16}, {&m.offset, fields[2], 16}, {&m.inode, fields[4], 10}} {
		v, err := strconv.ParseUint(n.text, n.base, 64)
		if err != nil {
			return m, false
		}
		*n.to = v
	}
	return m, m.end > m.start
}

// findMapping returns the mapping that addr is in.
func findMapping(list []mapping, addr uint64) *mapping {
	i, found := slices.BinarySearchFunc(list, addr, func(m mapping, a uint64) int { return cmp.Compare(m.start, a) })
	if !found {
		i--
	}
	if i < 0 || addr >= list[i].end {
		return nil
	}
	return &list[i]
}
