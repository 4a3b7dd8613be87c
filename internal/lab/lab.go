// Package lab is a small service and its load, in which a known random few of
// the requests are made slow on purpose, each by one known cause. It is the
// ground truth that tailtrace is shown on and measured against.
//
// Run starts a few processes, of this executable again (see Main): the service,
// in one of several shapes, which has a CPU to itself; the client; a hog, which
// takes the service's CPU away at real-time priority; a peer, which answers
// late and stops the service; and a flood of packets. What each request got is
// written down by those who did it, not by what was planned.
package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Result is what a run left behind.
type Result struct {
	Rows     string // the client's rows, canonical JSON lines
	Truth    string // one line for each measured request
	Shape    Shape
	Requests int            // measured ones
	AtOnce   int            // requests under way at once, at most
	Injected map[string]int // those made slow, by cause
	LeftOut  []LeftOut
}

// LeftOut is a cause that was asked for and could not be injected here.
type LeftOut struct {
	Cause string
	Why   string
}

// Run plays plan: it starts the service, warms it up, calls started with the
// service's pid, and then runs the load to its end. A recorder is started
// inside started, which returns once recording is on. Every process is gone
// when Run returns, and dies with the caller should that be killed. Runs wait
// for each other.
func Run(ctx context.Context, plan Plan, started func(pid int) error) (*Result, error) {
	plan, err := plan.complete()
	if err != nil {
		return nil, fmt.Errorf("check the lab's plan: %w", err)
	}
	leave, err := alone(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	plan.Exposed = plan.Exposed || needRealtime(&plan) != nil
	if err := plan.Shape.Possible(); err != nil {
		return nil, err
	}
	left := plan.leaveOut()
	if len(plan.Causes) == 0 {
		return nil, fmt.Errorf("none of the causes can be injected here: %v", left)
	}
	// The kernel kills a child when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	crew, err := startCrew(runCtx, plan)
	if err == nil {
		err = crew.play(started)
	}
	if err != nil {
		cancel()
	}
	err = errors.Join(err, crew.wait())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	sh, err := plan.Shape.find()
	if err != nil {
		return nil, err
	}
	res := &Result{
		Rows:     filepath.Join(plan.Dir, rowsFile),
		Truth:    filepath.Join(plan.Dir, truthFile),
		Shape:    plan.Shape,
		Requests: plan.Requests,
		AtOnce:   sh.users,
		Injected: map[string]int{},
		LeftOut:  left,
	}
	return res, res.count()
}

// count reads from the truth what was injected.
func (r *Result) count() error {
	f, err := os.Open(r.Truth)
	if err != nil {
		return fmt.Errorf("open the truth: %w", err)
	}
	defer f.Close()
	truth, err := ReadTruth(f)
	if err != nil {
		return err
	}
	for i := range truth {
		if c := truth[i].Cause; c != "" {
			r.Injected[c]++
		}
	}
	return nil
}

const (
	rowsFile  = "rows.jsonl"
	truthFile = "truth.jsonl"
	// drain is how long a child may take to end once it has been told to.
	drain = 5 * time.Second
)
