// Package lab is a small service and its load, in which a known random few of
// the requests are made slow on purpose, each by one known cause. It is the
// ground truth that tailtrace is shown on and measured against.
//
// Run starts four processes, all of them this executable again (see Main): the
// service, whose one thread has a CPU to itself; the client, which sends one
// request at a time; a hog, which takes the service's CPU away at real-time
// priority; and a peer, which answers late and stops the service. What each
// request got is written down by those who did it, not by what was planned.
package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"
)

// Result is what a run left behind.
type Result struct {
	Rows     string         // the client's rows, canonical JSON lines
	Truth    string         // one line for each injected request
	Requests int            // measured ones
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
// when Run returns, and dies with the caller should that be killed.
func Run(ctx context.Context, plan Plan, started func(pid int) error) (*Result, error) {
	plan, err := plan.complete()
	if err != nil {
		return nil, fmt.Errorf("check the lab's plan: %w", err)
	}
	plan.Exposed = plan.Exposed || needRealtime(&plan) != nil
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
	res := &Result{
		Rows:     filepath.Join(plan.Dir, rowsFile),
		Truth:    filepath.Join(plan.Dir, truthFile),
		Requests: plan.Requests,
		Injected: map[string]int{},
		LeftOut:  left,
	}
	for _, in := range plan.schedule() {
		res.Injected[in.cause.name]++
	}
	return res, nil
}

const (
	rowsFile  = "rows.jsonl"
	truthFile = "truth.jsonl"
	// drain is how long a child may take to end once it has been told to.
	drain = 5 * time.Second
)
