package symbols

import (
	"bytes"
	"cmp"
	"slices"
)

// symbol is a function in a table.
type symbol struct {
	addr uint64
	size uint64 // 0: up to the next one
	name uint32 // where it begins in the table's names
}

// table finds functions by address. Names end with a zero byte.
type table struct {
	list  []symbol
	names []byte
}

// add appends a function; sort must follow.
func (t *table) add(addr, size uint64, name string) {
	t.list = append(t.list, symbol{addr, size, uint32(len(t.names))})
	t.names = append(append(t.names, name...), 0)
}

// sort orders the table. Of several names for one address the one with the
// known size stays, then the one with the fewest underscores in front.
func (t *table) sort() {
	slices.SortStableFunc(t.list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(b.size, a.size), cmp.Compare(t.underscores(a), t.underscores(b)))
	})
	t.list = slices.CompactFunc(t.list, func(a, b symbol) bool { return a.addr == b.addr })
	t.list = slices.Clip(t.list)
}

func (t *table) underscores(s symbol) int {
	name := t.names[s.name:]
	return len(name) - len(bytes.TrimLeft(name, "_"))
}

// find returns the function that addr is in.
func (t *table) find(addr uint64) (s symbol, name string, ok bool) {
	i, found := slices.BinarySearchFunc(t.list, addr, func(s symbol, a uint64) int { return cmp.Compare(s.addr, a) })
	if !found {
		i--
	}
	if i < 0 {
		return s, "", false
	}
	s = t.list[i]
	if s.size == 0 && i+1 == len(t.list) || s.size > 0 && addr-s.addr >= s.size {
		return s, "", false
	}
	return s, t.text(s), true
}

// maxName bounds a function's name, in bytes.
const maxName = 512

func (t *table) text(s symbol) string {
	name := t.names[min(int(s.name), len(t.names)):]
	name = name[:min(maxName, len(name))]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return string(name)
}

func (t *table) bytes() int { return len(t.names) + 24*len(t.list) }
