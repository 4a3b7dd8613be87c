package collector

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestSocketThatAThreadBlocksOnIsNamedByItsPeer(t *testing.T) {
	testenv.Root(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	file, err := conn.(*net.TCPConn).File() // blocking, unlike conn
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd())
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil { // inherited
		t.Fatal(err)
	}
	c := startChild(t, "pipe", "TAILTRACE_TEST_FD="+strconv.Itoa(fd))
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		for range 10 {
			time.Sleep(10 * time.Millisecond)
			if _, err := server.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		c.hear()
	})
	want := "tcp " + l.Addr().String()
	if !slices.ContainsFunc(rec.fds, func(f eventfile.Fd) bool {
		return int(f.Pid) == c.pid && int(f.Fd) == fd && f.Name == want
	}) {
		t.Errorf("no descriptor %d of %q in %+v", fd, want, rec.fds)
	}
}

func TestFaultsLieInKnownMappings(t *testing.T) {
	testenv.Root(t)
	path := filepath.Join(t.TempDir(), "data")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	c := startChild(t, "majorfaults", "TAILTRACE_TEST_FILE="+path)
	var told []int64
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() {
		c.tell()
		told = c.hearNumbers()
		time.Sleep(2 * time.Duration(mapsEvery)) // for the mapping to be asked for
	})
	testenv.Need(t, told[0] > 0, "a file system whose pages can be dropped")
	at := func(addr uint64) *eventfile.Mapping {
		i := slices.IndexFunc(rec.maps, func(m eventfile.Mapping) bool { return m.Start <= addr && addr < m.End })
		if i < 0 {
			return nil
		}
		return &rec.maps[i]
	}
	major, inFile, unknown := 0, 0, 0
	for _, e := range rec.of(eventfile.KindFault, c.tid) {
		m := at(e.Addr)
		if m == nil {
			unknown++
		} else if e.Flags&eventfile.FlagMajor != 0 && m.Path == path {
			inFile++
		}
		if e.Flags&eventfile.FlagMajor != 0 {
			major++
		}
	}
	if inFile*10 < major*9 || unknown > 0 {
		t.Errorf("of %d major faults %d are in the file; %d faults lie in no mapping", major, inFile, unknown)
	}
	for _, s := range rec.offCPU(c.tid) {
		if s.out.FaultStart != 0 && at(s.out.Addr) == nil {
			t.Errorf("a fault that waits at %#x lies in no mapping", s.out.Addr)
		}
	}
}
