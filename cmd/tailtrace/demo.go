package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tailtrace/tailtrace/collector"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/lab"
)

func runDemo(s streams, args []string) error {
	f := newFlags(s, "demo", "", `Starts a small service and its load, makes a known few of the requests slow on purpose, records and
explains them, and prints what was injected beside what was found. Takes about 20 s; needs root.`)
	plan := lab.Plan{}
	f.IntVar(&plan.Requests, "requests", 0, "requests to send (0: enough for about ten seconds)")
	f.Uint64Var(&plan.Seed, "seed", 1, "picks the requests that are made slow")
	f.IntVar(&plan.PerCause, "per-cause", 0, "requests for each cause (0: a few)")
	f.StringSliceVar(&plan.Causes, "causes", nil, "causes to inject: "+strings.Join(lab.Causes(), ", ")+" (default all)")
	dir := f.String("dir", "", "folder to leave events.bin, rows.jsonl, truth.jsonl and explain.json in")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError(fmt.Sprintf("demo takes no argument, and %q is one", f.Arg(0)), "")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cleanup, err := demoDir(&plan, *dir)
	if err != nil {
		return err
	}
	defer cleanup()
	return demo(ctx, s, plan)
}

// demoDir makes the folder of a demo, which goes away again unless the user
// named it.
func demoDir(plan *lab.Plan, dir string) (cleanup func(), err error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the demo's folder: %w", err)
		}
		plan.Dir = dir
		return func() {}, nil
	}
	if plan.Dir, err = os.MkdirTemp("", "tailtrace-demo-"); err != nil {
		return nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	return func() { os.RemoveAll(plan.Dir) }, nil
}

func demo(ctx context.Context, s streams, plan lab.Plan) error {
	events := filepath.Join(plan.Dir, "events.bin")
	fmt.Fprintln(s.err, "tailtrace: starting the demo's service and load")
	rec := &backgroundRecorder{out: events}
	ran, err := lab.Run(ctx, plan, func(pid int) error { return rec.start(s, pid) })
	if stopErr := rec.stop(); stopErr != nil {
		return stopErr
	}
	if err != nil {
		return fmt.Errorf("run the demo's load: %w", err)
	}
	_, x, err := analyze(events, []string{ran.Rows}, correlate.Options{Tail: demoTail(plan, ran)})
	if err != nil {
		return err
	}
	if err := saveJSON(filepath.Join(plan.Dir, "explain.json"), x); err != nil {
		return err
	}
	if err := x.Text(s.out); err != nil {
		return err
	}
	return printTruth(s, ran, x)
}

// demoTail is a share that has room for every injected request and for as many
// again that the machine slows down by itself.
func demoTail(plan lab.Plan, ran *lab.Result) float64 {
	injected := 0
	for _, n := range ran.Injected {
		injected += n
	}
	return max(0.01, 2*float64(injected)/float64(max(ran.Requests, 1)))
}

// printTruth puts what was injected beside what was found.
func printTruth(s streams, ran *lab.Result, x *report.Explain) error {
	f, err := os.Open(ran.Truth)
	if err != nil {
		return fmt.Errorf("open the truth: %w", err)
	}
	defer f.Close()
	truth, err := lab.ReadTruth(f)
	if err != nil {
		return err
	}
	verdicts, inTail := tailVerdicts(x)
	fmt.Fprintln(s.out, "\nwhat was injected, and how it was named")
	if err := lab.WriteScores(s.out, lab.ScoreVerdicts(truth, verdicts, inTail)); err != nil {
		return fmt.Errorf("print the scores: %w", err)
	}
	for _, l := range ran.LeftOut {
		fmt.Fprintf(s.out, "left out: %s: %s\n", l.Cause, l.Why)
	}
	return nil
}

// tailVerdicts maps the ids of a report's tail requests to their verdicts.
func tailVerdicts(x *report.Explain) (verdict map[uint64]string, inTail map[uint64]bool) {
	verdict, inTail = map[uint64]string{}, map[uint64]bool{}
	for i := range x.Requests {
		r := &x.Requests[i]
		switch id := r.ID.(type) {
		case uint64:
			verdict[id], inTail[id] = r.Verdict, r.Tail
		case float64: // read back from JSON
			verdict[uint64(id)], inTail[uint64(id)] = r.Verdict, r.Tail
		}
	}
	return verdict, inTail
}

// backgroundRecorder records beside the load.
type backgroundRecorder struct {
	out    string
	cancel context.CancelFunc
	done   chan error
}

// start returns once recording is on: the file is there from then on.
func (r *backgroundRecorder) start(s streams, pid int) error {
	if err := os.Remove(r.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the last demo's recording: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.done = cancel, make(chan error, 1)
	c := collector.Config{
		Pids: []int{pid}, Out: r.out, SampleHz: collector.DefaultSampleHz, Tool: toolName(),
		Log: func(m string) { fmt.Fprintf(s.err, "tailtrace: %s\n", m) },
	}
	go func() {
		_, err := collector.Run(ctx, c)
		r.done <- err
	}()
	for {
		select {
		case err := <-r.done:
			r.done <- err
			return errors.Join(errors.New("the recorder stopped"), err)
		case <-time.After(10 * time.Millisecond):
			if st, err := os.Stat(r.out); err == nil && st.Size() > 0 {
				return nil
			}
		}
	}
}

func (r *backgroundRecorder) stop() error {
	if r.cancel == nil {
		return nil
	}
	r.cancel()
	if err := <-r.done; err != nil {
		return fmt.Errorf("record the demo: %w", err)
	}
	return nil
}
