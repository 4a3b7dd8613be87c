package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Subcommand is the hidden first argument with which this executable must
// call Main instead of doing what it usually does.
const Subcommand = "lab-process"

// setup is what a child is told, as JSON on its standard input.
type setup struct {
	Plan       Plan
	Address    string // of the service
	CPU        int    // this child's
	Others     []int  // CPUs for everything but the service; the same one where there is just one
	ServiceCPU int
	Quota      string   // the cgroup for the service; empty = none
	Try        bool     // only find out whether it can be done here
	CauseNames []string // by index, as on the wire
}

// The files that a child inherits, from descriptor 3 on.
const (
	serviceListener = 3
	serviceHog      = 4
	servicePeer     = 5
	serviceFlood    = 6
	clientHog       = 3
	hogOrders       = 3
	peerSocket      = 3
	floodOrders     = 3
	lastInherited   = serviceFlood
)

// Main is one process of the lab; args are those after Subcommand. It returns
// the exit status.
func Main(args []string) int {
	roles := map[string]func(setup) error{
		"service": serve, "client": load, "hog": hog, "peer": peer, "flood": flood,
		"quota": tryQuota,
	}
	if len(args) != 1 || roles[args[0]] == nil {
		fmt.Fprintln(os.Stderr, "this is a part of tailtrace demo; it is not started by hand")
		return 2
	}
	if err := enter(args[0], roles[args[0]]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// enter makes this process a quiet one: a named main thread with a CPU of its
// own, to which role is confined, and every other thread away from it.
func enter(name string, role func(setup) error) error {
	runtime.LockOSThread() // so that role gets the main thread; see quiet
	var s setup
	if err := json.NewDecoder(oneLine{os.Stdin}).Decode(&s); err != nil {
		return fmt.Errorf("read the setup: %w", err)
	}
	if err := setName("lab-" + name); err != nil {
		return err
	}
	if err := pinProcess(s.Others); err != nil {
		return err
	}
	if err := pin(0, s.CPU); err != nil {
		return err
	}
	for fd := 3; fd <= lastInherited; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			if err := unix.SetNonblock(fd, false); err != nil {
				return fmt.Errorf("make descriptor %d block: %w", fd, err)
			}
		}
	}
	return role(s)
}

// quiet begins the part of a role that must not be disturbed, with the
// threads it needs beside the main one, each of which calls ready when it is.
// There is a P for each goroutine and no blocking call that the scheduler
// knows of, so that all go on where they are until their time slice ends. A
// loop therefore calls runtime.Gosched where nothing waits for it, which starts
// a new one.
//
// A goroutine that is alone is no longer locked to its thread: one that is
// locked gets a new time slice through another thread, which takes as long as
// a short request. Several stay locked, as they could change threads.
func quiet(threads ...func(ready func())) {
	runtime.GOMAXPROCS(1 + len(threads))
	for _, run := range threads {
		running := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			run(func() { close(running) })
		}()
		<-running
	}
	if len(threads) == 0 {
		runtime.UnlockOSThread()
	}
}

// oneLine reads no further than the end of a line, a byte at a time.
type oneLine struct{ r io.Reader }

func (l oneLine) Read(b []byte) (int, error) {
	return l.r.Read(b[:min(len(b), 1)])
}
