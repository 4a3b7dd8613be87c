package lab

import (
	"context"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// shared is what the processes of a run inherit to reach each other: the
// service's listener, a socket pair between service and peer, and the pipes
// that carry orders.
type shared struct {
	listener       *os.File
	toPeer, ofPeer *os.File
	toHog, ofHog   *os.File

	toFlood, ofFlood *os.File
}

// open returns the service's address.
func (f *shared) open() (address string, err error) {
	var plain net.ListenConfig
	plain.SetMultipathTCP(false) // asyncio takes only plain TCP for TCP
	l, err := plain.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("open the service's port: %w", err)
	}
	defer l.Close()
	if f.listener, err = l.(*net.TCPListener).File(); err != nil {
		return "", fmt.Errorf("open the service's port: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open the socket to the peer: %w", err)
	}
	f.toPeer, f.ofPeer = os.NewFile(uintptr(pair[0]), "to peer"), os.NewFile(uintptr(pair[1]), "of peer")
	if f.ofHog, f.toHog, err = orderPipe(); err != nil {
		return "", fmt.Errorf("open the pipe to the hog: %w", err)
	}
	if f.ofFlood, f.toFlood, err = orderPipe(); err != nil {
		return "", fmt.Errorf("open the pipe to the flood: %w", err)
	}
	return l.Addr().String(), nil
}

func orderPipe() (read, write *os.File, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(p[0]), "orders"), os.NewFile(uintptr(p[1]), "order"), nil
}

// close closes the caller's side; it has no use for them itself.
func (f *shared) close() {
	for _, file := range []*os.File{f.listener, f.toPeer, f.ofPeer, f.toHog, f.ofHog, f.toFlood, f.ofFlood} {
		file.Close() // of a nil file too
	}
}
