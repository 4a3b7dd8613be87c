package symbols

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	maxPerfMap   = 64 << 20
	maxPerfLine  = 4 << 10
	maxPerfNames = 1 << 20
)

// perfMap is the functions that a runtime with a JIT compiler wrote into
// /tmp/perf-PID.map, and goes on to append to.
type perfMap struct {
	table table
	inode uint64
	read  int64 // bytes so far
}

// refresh reads what was appended since. A file that anybody else could have
// put there is left alone.
func (p *perfMap) refresh(dir string, pid int) error {
	f, err := openRegular(fmt.Sprintf("%s/root/tmp/perf-%d.map", dir, pid), unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer f.Close()
	var st, owner unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	if err := unix.Stat(dir, &owner); err != nil {
		return os.NewSyscallError("stat", err)
	}
	if st.Uid != owner.Uid && st.Uid != 0 {
		return fmt.Errorf("perf map of user %d, process of user %d", st.Uid, owner.Uid)
	}
	if st.Ino != p.inode || st.Size < p.read {
		*p = perfMap{inode: st.Ino}
	}
	if st.Size == p.read || p.read >= maxPerfMap {
		return nil
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, p.read, min(st.Size, maxPerfMap)-p.read))
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	p.read += int64(whole)
	p.parse(raw[:whole])
	return nil
}

// parse takes lines of start and size, in hex, and a name with spaces. Code
// that was compiled anew replaces what was in its place.
func (p *perfMap) parse(raw []byte) {
	for line := range bytes.Lines(raw) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > maxPerfLine || len(p.table.list) >= maxPerfNames {
			continue
		}
		from, rest, _ := bytes.Cut(line, []byte{' '})
		length, name, ok := bytes.Cut(rest, []byte{' '})
		addr, errAddr := parseHex(from)
		size, errSize := parseHex(length)
		if !ok || errAddr != nil || errSize != nil || size == 0 || addr+size < addr || len(name) == 0 {
			continue
		}
		p.table.add(addr, size, string(name))
	}
	p.order()
}

func parseHex(b []byte) (uint64, error) {
	return strconv.ParseUint(string(bytes.TrimPrefix(b, []byte("0x"))), 16, 64)
}

// order sorts by address. Of several for one, the last written stays: its name
// comes last.
func (p *perfMap) order() {
	slices.SortFunc(p.table.list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(b.name, a.name))
	})
	p.table.list = slices.CompactFunc(p.table.list, func(a, b symbol) bool { return a.addr == b.addr })
}
