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
explains them, and prints what was injected beside what was found. Takes about 20 s; needs root.
With --require it becomes a check: several runs, of which only the scores are printed, in Markdown.`)
	plan := lab.Plan{}
	shape := f.String("shape", string(lab.Thread), "how the service is built: "+lab.ShapeNames()+"; all, with --require")
	f.IntVar(&plan.Requests, "requests", 0, "requests of a run (0: enough for about ten seconds; with --require 100 for each injected one)")
	f.Uint64Var(&plan.Seed, "seed", 1, "picks the requests that are made slow")
	f.IntVar(&plan.PerCause, "per-cause", 0, "requests for each cause and run (0: a few)")
	f.StringSliceVar(&plan.Causes, "causes", nil, "causes to inject: "+strings.Join(lab.Causes(), ", ")+" (default all)")
	dir := f.String("dir", "", "folder to leave events.bin, rows.jsonl, truth.jsonl and explain.json in")
	a := accuracy{}
	f.Float64Var(&a.require, "require", 0, "fail with exit code 3 where recall or precision of a cause is below this, as 0.99")
	f.IntVar(&a.runs, "runs", 1, "with --require: runs of each shape, with seeds from --seed on")
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
	if f.Changed("require") {
		a.shapes = []lab.Shape{lab.Shape(*shape)}
		if *shape == "all" {
			a.shapes = lab.Shapes()
		}
		return a.check(ctx, s, plan)
	}
	plan.Shape = lab.Shape(*shape)
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
	t, err := try(ctx, s, plan)
	if err != nil {
		return err
	}
	if err := t.explain.Text(s.out); err != nil {
		return err
	}
	fmt.Fprintln(s.out, "\nwhat was injected, and how it was named")
	if err := lab.WriteScores(s.out, t.scores); err != nil {
		return fmt.Errorf("print the scores: %w", err)
	}
	for _, l := range t.ran.LeftOut {
		fmt.Fprintf(s.out, "left out: %s: %s\n", l.Cause, l.Why)
	}
	return nil
}

// trial is a run of the lab, recorded, explained and compared with its truth.
type trial struct {
	ran     *lab.Result
	explain *report.Explain
	scores  []lab.CauseScore
	lost    uint64 // events
}

// try runs plan and leaves the files in its folder.
func try(ctx context.Context, s streams, plan lab.Plan) (*trial, error) {
	events := filepath.Join(plan.Dir, "events.bin")
	fmt.Fprintln(s.err, "tailtrace: starting the demo's service and load")
	rec := &backgroundRecorder{out: events}
	ran, err := lab.Run(ctx, plan, func(pid int) error { return rec.start(s, pid) })
	if stopErr := rec.stop(); stopErr != nil {
		return nil, stopErr
	}
	if err != nil {
		return nil, fmt.Errorf("run the demo's load: %w", err)
	}
	res, x, err := analyze(events, []string{ran.Rows}, correlate.Options{Tail: demoTail(ran)})
	if err != nil {
		return nil, err
	}
	if err := saveJSON(filepath.Join(plan.Dir, "explain.json"), x); err != nil {
		return nil, err
	}
	truth, err := readTruth(ran.Truth)
	if err != nil {
		return nil, err
	}
	var lost uint64
	for i := range res.Losses {
		lost += res.Losses[i].Count
	}
	// With nothing lost, only switches that the kernel did not report leave
	// gaps; the recording counts those.
	gaps := lost == 0 && res.Counts.Inconsistent+res.Counts.Unseen > 0
	return &trial{ran, x, lab.ScoreVerdicts(ran.Shape, truth, tailNames(x, gaps)), lost}, nil
}

// demoTail is a share that has room for every injected request, for those that
// it delays, and for as many again that the machine slows down by itself.
func demoTail(ran *lab.Result) float64 {
	injected := 0
	for _, n := range ran.Injected {
		injected += n
	}
	return min(1, max(0.01, float64((1+ran.AtOnce)*injected)/float64(max(ran.Requests, 1))))
}

func readTruth(path string) ([]lab.Truth, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the truth: %w", err)
	}
	defer f.Close()
	return lab.ReadTruth(f)
}

// tailNames says how the tail's requests were named; gaps, that the kernel left
// some of the recording incomplete.
func tailNames(x *report.Explain, gaps bool) []lab.Named {
	var list []lab.Named
	for i := range x.Requests {
		r := &x.Requests[i]
		id, ok := r.ID.(uint64)
		if !ok || !r.Tail {
			continue
		}
		n := lab.Named{ID: id, Verdict: r.Verdict, Gap: gaps && r.Verdict == correlate.VerdictIncomplete}
		for _, e := range r.Evidence {
			if e.What == correlate.EvidenceLateSwitch {
				n.LateNS += e.NS
			}
		}
		list = append(list, n)
	}
	return list
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
