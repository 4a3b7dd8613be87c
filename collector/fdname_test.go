package collector

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

const (
	tcpTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000  1000        0 12 1 0000000000000000 20 4 0 10 -1
   2: 0100007F:C002 0100007F:1538 01 00000000:00000000 00:00000000 00000000  1000        0 13 1 0000000000000000 20 4 0 10 -1
   3: 0100007F:C003 0100007F:1538 06 00000000:00000000 00:00000000 00000000  0        0 0 3 0000000000000000
`
	tcp6Table = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:C004 00000000000000000000000001000000:0050 01 00000000:00000000 00:00000000 00000000     0        0 14 1 0 20 4 30 10 -1
   1: 0000000000000000FFFF00000100007F:C005 0000000000000000FFFF00000100007F:0051 01 00000000:00000000 00:00000000 00000000     0        0 15 1 0 20 4 30 10 -1
`
	udpTable = `   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
  10: 3500007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000   101        0 16 2 0000000000000000 0
`
	unixTable = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 17 /run/a b.sock
0000000000000000: 00000003 00000000 00000000 0001 03 18
`
)

func TestSocketsAreNamedByTheirPeer(t *testing.T) {
	s := newSocketNamer(fakeProc(t, map[string]string{
		"7/net/tcp": tcpTable, "7/net/tcp6": tcp6Table, "7/net/udp": udpTable, "7/net/unix": unixTable,
	}))
	for inode, want := range map[uint64]string{
		11: "tcp listening on 127.0.0.1:8080", 12: "tcp from 127.0.0.1:49153", 13: "tcp 127.0.0.1:5432",
		14: "tcp [::1]:80", 15: "tcp 127.0.0.1:81", 16: "udp on 127.0.0.53:53",
		17: "unix /run/a b.sock", 18: "unix socket", 99: unknownSocket,
	} {
		if got := s.name("7", inode, 1); got != want {
			t.Errorf("socket %d is %q, want %q", inode, got, want)
		}
	}
}

// fdWorld is a /proc with the descriptors of process 7.
type fdWorld struct {
	t *testing.T
	n *fdNamer
}

func newFdWorld(t *testing.T) *fdWorld {
	n := newFdNamer()
	n.root = fakeProc(t, map[string]string{"7/fd/x": "", "7/net/tcp": tcpTable})
	n.sockets.root = n.root
	return &fdWorld{t, n}
}

func (w *fdWorld) link(fd, to string) {
	w.t.Helper()
	path := filepath.Join(w.n.root, "7/fd", fd)
	os.Remove(path)
	if to == "" {
		return
	}
	if err := os.Symlink(to, path); err != nil {
		w.t.Fatal(err)
	}
}

// call has thread 8 block in a call on a descriptor for d, and returns what
// the next round finds.
func (w *fdWorld) call(nr int32, fd uint64, at, d eventfile.Time) (found []eventfile.Fd) {
	w.t.Helper()
	w.n.see(&eventfile.Event{Kind: eventfile.KindSwitch, Tid: 8, State: 1, Syscall: nr, Args: [3]uint64{fd}, Time: at}, 7)
	w.n.see(&eventfile.Event{Kind: eventfile.KindSwitch, Peer: 8, Time: at + d, Syscall: eventfile.NoSyscall}, 0)
	err := w.n.round(fdsPerRound, at+d, func(f *eventfile.Fd) error {
		found = append(found, *f)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func numberOf(t *testing.T, name string) int32 {
	t.Helper()
	for nr, n := range syscallNames {
		if n == name {
			return int32(nr)
		}
	}
	t.Fatalf("no system call %s", name)
	return 0
}

func TestDescriptorsAreNamedOnceUntilTheyChange(t *testing.T) {
	const ms = eventfile.Time(1e6)
	w := newFdWorld(t)
	recv, futex := numberOf(t, "recvfrom"), numberOf(t, "futex")
	w.link("5", "socket:[13]")
	w.link("6", "/data/log")
	check := func(what string, got []eventfile.Fd, want ...eventfile.Fd) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	check("a futex", w.call(futex, 5, 0, ms))
	check("a short wait", w.call(recv, 5, ms, minNamedWait-1))
	check("the first wait", w.call(recv, 5, 2*ms, ms), eventfile.Fd{Pid: 7, Fd: 5, Time: 3 * ms, Name: "tcp 127.0.0.1:5432"})
	check("the same again", w.call(recv, 5, 500*ms, ms))
	w.link("5", "/data/log")
	check("soon after", w.call(recv, 5, 510*ms, ms))
	check("another file, and for how long it was the first",
		w.call(recv, 5, 900*ms, ms),
		eventfile.Fd{Pid: 7, Fd: 5, Time: 501 * ms, Name: "tcp 127.0.0.1:5432"},
		eventfile.Fd{Pid: 7, Fd: 5, Time: 901 * ms, Name: "/data/log"})
	w.link("5", "")
	check("closed by now", w.call(recv, 5, 2000*ms, ms))
}

func TestSocketThatConnectsLaterIsNamedFromItsFirstWait(t *testing.T) {
	const ms = eventfile.Time(1e6)
	w := newFdWorld(t)
	recv := numberOf(t, "recvfrom")
	w.link("5", "socket:[77]")
	if got := w.call(recv, 5, 0, ms); len(got) != 1 || got[0].Name != unknownSocket {
		t.Fatalf("at first: %+v", got)
	}
	row := "   9: 0100007F:C009 0100007F:0050 01 00000000:00000000 00:00000000 00000000 1000 0 77 1 0 20 4 0 10 -1\n"
	if err := os.WriteFile(filepath.Join(w.n.root, "7/net/tcp"), []byte(tcpTable+row), 0o644); err != nil {
		t.Fatal(err)
	}
	got := w.call(recv, 5, 5000*ms, ms)
	want := []eventfile.Fd{{Pid: 7, Fd: 5, Time: ms, Name: "tcp 127.0.0.1:80"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connected (-want +got):\n%s", diff)
	}
}
