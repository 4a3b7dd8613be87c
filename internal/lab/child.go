package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// child is one process of a run.
type child struct {
	role    string
	command []string // the role is appended
	cpu     int
	inherit []*os.File // from descriptor 3 on

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr bytes.Buffer
}

// start starts it, and tells it what it is to do.
func (ch *child) start(ctx context.Context, s setup) error {
	cmd := exec.CommandContext(ctx, ch.command[0], append(ch.command[1:len(ch.command):len(ch.command)], ch.role)...)
	cmd.Env = os.Environ()
	if ch.role != "service" || s.Plan.Shape != Goroutines {
		// No garbage collection and no signals for preemption.
		cmd.Env = append(cmd.Env, "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	}
	cmd.ExtraFiles = ch.inherit
	cmd.Stderr = &ch.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = drain
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
	ch.cmd = cmd
	s.CPU = ch.cpu
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("start the lab's %s: %w", ch.role, err)
	}
	if _, err := ch.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("set up the lab's %s: %w", ch.role, err)
	}
	return nil
}

// wait waits for it to end, if it was started.
func (ch *child) wait() error {
	if ch.cmd == nil {
		return nil
	}
	if err := ch.cmd.Wait(); err != nil {
		return fmt.Errorf("the lab's %s: %w: %s", ch.role, err, strings.TrimSpace(ch.stderr.String()))
	}
	return nil
}

// command is what a process of the lab is started with, but for its role.
func (p *Plan) command() []string {
	if len(p.Command) > 0 {
		return p.Command
	}
	self, err := os.Executable()
	if err != nil {
		self = "/proc/self/exe"
	}
	return []string{self, Subcommand}
}
