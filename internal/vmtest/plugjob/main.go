// Command plugjob has itself recorded in a guest while its CPUs come and go.
// It does what vmtest.Turns says.
//
//	plugjob TAILTRACE EVENTS.bin
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/vmtest"
	"github.com/tailtrace/tailtrace/ring"
)

func main() {
	if err := job(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "plugjob:", err)
		os.Exit(1)
	}
}

func job(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: plugjob TAILTRACE EVENTS.bin")
	}
	runtime.LockOSThread()
	p, err := ring.Create(ring.Options{Service: "plugjob"})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := os.MkdirAll(filepath.Dir(args[1]), 0o755); err != nil {
		return err
	}
	first := vmtest.Turns[0]
	if err := change(first.Changes); err != nil {
		return err
	}
	rec, err := startRecorder(args[0], args[1])
	if err != nil {
		return err
	}
	err = requests(p, 0, first.CPU)
	for i, t := range vmtest.Turns[1:] {
		if err != nil {
			break
		}
		if err = change(t.Changes); err == nil {
			time.Sleep(t.Wait)
			err = requests(p, 1+i, t.CPU)
		}
	}
	return errors.Join(err, rec.stop())
}

// recorder is tailtrace, with this process as its target.
type recorder struct {
	cmd  *exec.Cmd
	on   chan struct{} // closed when it follows this process's ring
	done chan error
}

// startRecorder returns once recording is on.
func startRecorder(tailtrace, events string) (*recorder, error) {
	r := &recorder{
		cmd:  exec.Command(tailtrace, "-pid", strconv.Itoa(os.Getpid()), "-out", events),
		on:   make(chan struct{}),
		done: make(chan error, 1),
	}
	r.cmd.Stderr = r
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { r.done <- r.cmd.Wait() }()
	select {
	case <-r.on:
		return r, nil
	case err := <-r.done:
		return nil, errors.Join(errors.New("the recorder ended at once"), err)
	}
}

// Write takes what the recorder says, a message at a time.
func (r *recorder) Write(message []byte) (int, error) {
	if bytes.Contains(message, []byte("attached")) {
		close(r.on)
	}
	return os.Stdout.Write(message)
}

func (r *recorder) stop() error {
	return errors.Join(r.cmd.Process.Signal(os.Interrupt), <-r.done)
}

func change(list []vmtest.CPUChange) error {
	for _, c := range list {
		state := "0"
		if c.Online {
			state = "1"
		}
		if err := os.WriteFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/online", c.CPU), []byte(state), 0); err != nil {
			return fmt.Errorf("set CPU %d online=%s: %w", c.CPU, state, err)
		}
	}
	return nil
}

// requests touch fresh memory and sleep, on one CPU.
func requests(p *ring.Publisher, turn, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("move to CPU %d: %w", cpu, err)
	}
	for i := range vmtest.TurnRequests {
		w := p.Begin(uint64(turn*vmtest.TurnRequests+i+1), 0)
		if err := touchFreshMemory(); err != nil {
			return err
		}
		if err := unix.Nanosleep(&unix.Timespec{Nsec: 5e6}, nil); err != nil && err != unix.EINTR {
			return err
		}
		w.End()
	}
	return nil
}

func touchFreshMemory() error {
	const pages = 4
	size := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	for i := range pages {
		mem[i*size] = 1
	}
	return unix.Munmap(mem)
}
