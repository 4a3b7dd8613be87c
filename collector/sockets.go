package collector

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// socketNamer knows the sockets of network namespaces by inode, from
// /proc/PID/net. A table can be long, so it is read only for an inode that it
// did not have, and takes at most a hundredth of a CPU.
type socketNamer struct {
	root   string // "/proc"
	spaces map[string]*socketTable
}

type socketTable struct {
	names map[uint64]string
	next  eventfile.Time // not read before
}

const (
	socketsEvery    = eventfile.Time(500 * time.Millisecond)
	socketsCost     = 100 // times what a read took, at least, between two
	maxSocketBytes  = 4 << 20
	maxSocketSpaces = 64
	unknownSocket   = "socket"
)

func newSocketNamer(root string) *socketNamer {
	return &socketNamer{root: root, spaces: make(map[string]*socketTable)}
}

// name says what a socket of process pid is connected to: unknownSocket where
// no table has it.
func (s *socketNamer) name(pid string, inode uint64, t eventfile.Time) string {
	space, err := os.Readlink(s.root + "/" + pid + "/ns/net")
	if err != nil {
		space = pid
	}
	table := s.spaces[space]
	if table == nil {
		if len(s.spaces) >= maxSocketSpaces {
			clear(s.spaces)
		}
		table = &socketTable{}
		s.spaces[space] = table
	}
	if name, ok := table.names[inode]; ok {
		return name
	}
	if t >= table.next {
		began := now()
		table.names = s.read(pid)
		table.next = t + max(socketsEvery, socketsCost*(now()-began))
	}
	if name, ok := table.names[inode]; ok {
		return name
	}
	return unknownSocket
}

func (s *socketNamer) read(pid string) map[uint64]string {
	names := make(map[uint64]string)
	for _, file := range []string{"tcp", "tcp6", "udp", "udp6"} {
		parseInetSockets(s.file(pid, file), file[:3], names)
	}
	parseUnixSockets(s.file(pid, "unix"), names)
	return names
}

func (s *socketNamer) file(pid, name string) []byte {
	f, err := os.Open(s.root + "/" + pid + "/net/" + name)
	if err != nil {
		return nil // no IPv6, or the process has ended
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSocketBytes))
	if err != nil {
		return nil
	}
	return text
}

// columns of /proc/net/{tcp,udp} and /proc/net/unix
const (
	inetLocal = 1
	inetPeer  = 2
	inetState = 3
	inetInode = 9
	unixInode = 6
	unixPath  = 7

	tcpListens = "0A"
)

// parseInetSockets adds the sockets of /proc/net/tcp and its like. One that
// a listening socket accepted is named "from" its peer.
func parseInetSockets(text []byte, proto string, names map[uint64]string) {
	listens := make(map[uint16]bool)
	rows := func(visit func(f [][]byte, local, peer netip.AddrPort)) {
		for line := range bytes.Lines(text) {
			f := bytes.Fields(line)
			if len(f) <= inetInode {
				continue
			}
			local, ok1 := parseSocketAddr(f[inetLocal])
			peer, ok2 := parseSocketAddr(f[inetPeer])
			if ok1 && ok2 {
				visit(f, local, peer)
			}
		}
	}
	isListener := func(f [][]byte) bool { return proto == "tcp" && string(f[inetState]) == tcpListens }
	rows(func(f [][]byte, local, _ netip.AddrPort) {
		if isListener(f) {
			listens[local.Port()] = true
		}
	})
	rows(func(f [][]byte, local, peer netip.AddrPort) {
		inode, err := strconv.ParseUint(string(f[inetInode]), 10, 64)
		if err != nil || inode == 0 {
			return
		}
		switch {
		case isListener(f):
			names[inode] = proto + " listening on " + local.String()
		case peer.Port() == 0:
			names[inode] = proto + " on " + local.String()
		case listens[local.Port()]:
			names[inode] = proto + " from " + peer.String()
		default:
			names[inode] = proto + " " + peer.String()
		}
	})
}

// parseSocketAddr reads an address as the kernel prints it: 32-bit words in
// the machine's byte order (little-endian, on all that tailtrace runs on),
// colon, port.
func parseSocketAddr(text []byte) (netip.AddrPort, bool) {
	addr, port, _ := bytes.Cut(text, []byte{':'})
	raw, err := hex.DecodeString(string(addr))
	p, err2 := strconv.ParseUint(string(port), 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.LittleEndian.Uint32(raw[i:]))
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(p)), ok
}

// parseUnixSockets adds those of /proc/net/unix. Only the side that was bound
// has a path.
func parseUnixSockets(text []byte, names map[uint64]string) {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) <= unixInode {
			continue
		}
		inode, err := strconv.ParseUint(string(f[unixInode]), 10, 64)
		if err != nil {
			continue
		}
		names[inode] = "unix socket"
		if len(f) > unixPath {
			names[inode] = "unix " + string(bytes.Join(f[unixPath:], []byte{' '}))
		}
	}
}
