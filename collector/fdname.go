package collector

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// fdNamer finds out what stands behind the descriptors that threads of the
// targets block on. It looks a little later than the call, a few at a time.
type fdNamer struct {
	root    string                // "/proc"
	calls   map[int32]bool        // by number: those that take a descriptor
	blocked map[int32]blockedCall // by tid
	asked   []fdKey
	known   map[fdKey]*fdName
	sockets *socketNamer
}

type fdKey struct{ pid, fd int32 }

type blockedCall struct {
	fdKey
	since eventfile.Time
}

// fdName is what a descriptor was last seen to be.
type fdName struct {
	link, name string
	written    eventfile.Time // as of when the file has it
	checked    eventfile.Time
}

const (
	minNamedWait = eventfile.Time(20 * time.Microsecond)
	fdEvery      = eventfile.Time(100 * time.Millisecond) // one descriptor
	fdsPerRound  = 32
	maxFdAsked   = 256
	maxFdKnown   = 1 << 14
	maxFdBlocked = 1 << 14
	maxFd        = 1 << 20
)

func newFdNamer() *fdNamer {
	n := &fdNamer{
		root:    "/proc",
		calls:   make(map[int32]bool),
		blocked: make(map[int32]blockedCall),
		known:   make(map[fdKey]*fdName),
		sockets: newSocketNamer("/proc"),
	}
	for nr, name := range syscallNames {
		if eventfile.IsDescriptorCall(name) {
			n.calls[int32(nr)] = true
		}
	}
	return n
}

// see follows a switch: prev and next are the processes of who leaves and who
// arrives.
func (n *fdNamer) see(e *eventfile.Event, prev int32) {
	if b, ok := n.blocked[e.Peer]; ok {
		delete(n.blocked, e.Peer)
		if e.Time-b.since >= minNamedWait {
			n.ask(b.fdKey, e.Time)
		}
	}
	if e.State == eventfile.StateRunning || !n.calls[e.Syscall] || e.Args[0] >= maxFd || len(n.blocked) >= maxFdBlocked {
		return
	}
	n.blocked[e.Tid] = blockedCall{fdKey{prev, int32(e.Args[0])}, e.Time}
}

func (n *fdNamer) ask(k fdKey, t eventfile.Time) {
	if f := n.known[k]; f != nil && t-f.checked < fdEvery {
		return
	}
	if len(n.asked) < maxFdAsked {
		n.asked = append(n.asked, k)
	}
}

// askAll asks for what threads still block on.
func (n *fdNamer) askAll() {
	for _, b := range n.blocked {
		n.asked = append(n.asked, b.fdKey)
	}
}

// forget drops a process that has ended.
func (n *fdNamer) forget(pid int32) {
	for k := range n.known {
		if k.pid == pid {
			delete(n.known, k)
		}
	}
}

// round looks at up to most of the descriptors asked for, as of time t.
func (n *fdNamer) round(most int, t eventfile.Time, each func(*eventfile.Fd) error) error {
	most = min(most, len(n.asked))
	for _, k := range n.asked[:most] {
		if err := n.look(k, t, each); err != nil {
			return err
		}
	}
	n.asked = n.asked[:copy(n.asked, n.asked[most:])]
	return nil
}

func (n *fdNamer) look(k fdKey, t eventfile.Time, each func(*eventfile.Fd) error) error {
	if f := n.known[k]; f != nil && t-f.checked < fdEvery {
		return nil // asked for twice
	}
	pid := strconv.Itoa(int(k.pid))
	link, err := os.Readlink(n.root + "/" + pid + "/fd/" + strconv.Itoa(int(k.fd)))
	if err != nil {
		return nil // closed, or the process has ended
	}
	name := n.nameOf(pid, link, t)
	old := n.known[k]
	if old != nil && old.name == name && old.link == link {
		old.checked = t
		return nil
	}
	now := &fdName{link: link, name: name, written: t, checked: t}
	switch {
	case old == nil:
	case old.link == link: // the same socket, whose peer is known by now
		now.written = old.written
	case old.checked > old.written:
		// A reader takes the record nearest in time: say how long the old one held.
		if err := each(&eventfile.Fd{Pid: k.pid, Fd: k.fd, Time: old.checked, Name: old.name}); err != nil {
			return err
		}
	}
	if len(n.known) >= maxFdKnown {
		clear(n.known)
	}
	n.known[k] = now
	return each(&eventfile.Fd{Pid: k.pid, Fd: k.fd, Time: now.written, Name: name})
}

func (n *fdNamer) nameOf(pid, link string, t eventfile.Time) string {
	number, isSocket := strings.CutPrefix(link, "socket:[")
	if !isSocket {
		return link
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	if err != nil {
		return link
	}
	return n.sockets.name(pid, inode, t)
}
