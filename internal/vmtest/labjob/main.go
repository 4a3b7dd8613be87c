// Command labjob plays a plan of the lab inside a guest while another process
// records its service, as a user's recorder would.
//
//	labjob PLAN.json TAILTRACE EVENTS.bin [FLAG...]
//
// Flags are for the recorder.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/tailtrace/tailtrace/internal/lab"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == lab.Subcommand {
		os.Exit(lab.Main(os.Args[2:]))
	}
	if err := job(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "labjob:", err)
		os.Exit(1)
	}
}

func job(args []string) error {
	if len(args) < 3 {
		return errors.New("usage: labjob PLAN.json TAILTRACE EVENTS.bin [FLAG...]")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var plan lab.Plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return fmt.Errorf("parse plan: %w", err)
	}
	if err := os.MkdirAll(plan.Dir, 0o755); err != nil {
		return err
	}
	rec := &recorder{tailtrace: args[1], events: args[2], flags: args[3:]}
	ran, err := lab.Run(context.Background(), plan, rec.start)
	if err := errors.Join(err, rec.wait()); err != nil {
		return err
	}
	for _, l := range ran.LeftOut {
		fmt.Printf("left out: %s: %s\n", l.Cause, l.Why)
	}
	return nil
}

// recorder is tailtrace as a process of its own. It ends with the service.
type recorder struct {
	tailtrace, events string
	flags             []string
	cmd               *exec.Cmd
	done              chan error
}

// start returns once recording is on: the file has its header from then on.
func (r *recorder) start(pid int) error {
	r.cmd = exec.Command(r.tailtrace, append([]string{"-pid", strconv.Itoa(pid), "-out", r.events}, r.flags...)...)
	r.cmd.Stdout, r.cmd.Stderr = os.Stdout, os.Stderr
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.done = make(chan error, 1)
	go func() { r.done <- r.cmd.Wait() }()
	for {
		select {
		case err := <-r.done:
			r.done <- err
			return errors.Join(errors.New("the recorder ended at once"), err)
		case <-time.After(50 * time.Millisecond):
			if info, err := os.Stat(r.events); err == nil && info.Size() > 0 {
				return nil
			}
		}
	}
}

func (r *recorder) wait() error {
	if r.done == nil {
		return nil
	}
	if err := <-r.done; err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}
