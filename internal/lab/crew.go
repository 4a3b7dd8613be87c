package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// crew is the processes of a run.
type crew struct {
	setup    setup
	service  *child
	client   *child
	children []*child // in the order in which they end
}

type child struct {
	role   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr bytes.Buffer
}

// startCrew starts them all; they live no longer than ctx or the caller.
// What it started is in the crew also where it returns an error.
func startCrew(ctx context.Context, plan Plan) (*crew, error) {
	c := &crew{}
	cpus, err := allowedCPUs()
	if err != nil {
		return c, err
	}
	last := len(cpus) - 1
	c.setup = setup{Plan: plan, ServiceCPU: cpus[last], Others: cpus[:max(last, 1)]}
	files, err := c.openFiles()
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return c, err
	}
	listener, orders, order, toPeer, ofPeer := files[0], files[1], files[2], files[3], files[4]
	start := func(role string, cpu int, inherit ...*os.File) *child {
		ch := &child{role: role}
		err = errors.Join(err, ch.start(ctx, c.setup, cpu, inherit))
		return ch
	}
	other := c.setup.Others[len(c.setup.Others)-1]
	c.service = start("service", c.setup.ServiceCPU, listener, order, toPeer)
	c.client = start("client", other, order)
	c.children = []*child{c.client, c.service, start("peer", other, ofPeer)}
	if needRealtime(&plan) == nil {
		c.children = append(c.children, start("hog", c.setup.ServiceCPU, orders))
	}
	return c, err
}

// openFiles makes what the children share: the service's listener, the pipe
// to the hog and the socket pair of service and peer, in the order that
// startCrew takes them. The parent has no use for them itself.
func (c *crew) openFiles() ([]*os.File, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("open the service's port: %w", err)
	}
	defer l.Close()
	c.setup.Address = l.Addr().String()
	listener, err := l.File()
	if err != nil {
		return nil, fmt.Errorf("open the service's port: %w", err)
	}
	files := []*os.File{listener}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return files, fmt.Errorf("open the pipe to the hog: %w", err)
	}
	files = append(files, os.NewFile(uintptr(pipe[0]), "orders"), os.NewFile(uintptr(pipe[1]), "order"))
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return files, fmt.Errorf("open the socket to the peer: %w", err)
	}
	return append(files, os.NewFile(uintptr(pair[0]), "to peer"), os.NewFile(uintptr(pair[1]), "of peer")), nil
}

func (ch *child) start(ctx context.Context, s setup, cpu int, inherit []*os.File) error {
	command := s.Plan.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("find the own executable: %w", err)
		}
		command = []string{self, Subcommand}
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], ch.role)...)
	// No garbage collection and no signals for preemption.
	cmd.Env = append(os.Environ(), "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	cmd.ExtraFiles = inherit
	cmd.Stderr = &ch.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = drain
	ch.cmd = cmd
	var err error
	if ch.stdin, err = cmd.StdinPipe(); err != nil {
		return fmt.Errorf("start the lab's %s: %w", ch.role, err)
	}
	if ch.stdout, err = cmd.StdoutPipe(); err != nil {
		return fmt.Errorf("start the lab's %s: %w", ch.role, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the lab's %s: %w", ch.role, err)
	}
	s.CPU = cpu
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("start the lab's %s: %w", ch.role, err)
	}
	if _, err := ch.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("set up the lab's %s: %w", ch.role, err)
	}
	return nil
}

// play waits for the warm-up, lets the caller start recording, and gives the
// client its sign.
func (c *crew) play(started func(pid int) error) error {
	warm := make([]byte, 1)
	if _, err := io.ReadFull(c.client.stdout, warm); err != nil {
		return errors.New("the client ended before the service was warm")
	}
	if err := started(c.service.cmd.Process.Pid); err != nil {
		return err
	}
	if _, err := c.client.stdin.Write([]byte("go\n")); err != nil {
		return fmt.Errorf("start the load: %w", err)
	}
	return nil
}

// wait waits for every process to end; each does when the one before it has.
func (c *crew) wait() error {
	var errs []error
	for _, ch := range c.children {
		if ch.cmd == nil || ch.cmd.Process == nil {
			continue
		}
		if err := ch.cmd.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("the lab's %s: %w: %s", ch.role, err,
				strings.TrimSpace(ch.stderr.String())))
		}
	}
	return errors.Join(errs...)
}
