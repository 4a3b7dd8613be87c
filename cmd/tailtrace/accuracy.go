package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tailtrace/tailtrace/internal/lab"
)

// accuracy measures how many of the verdicts on requests of a known cause are
// right.
type accuracy struct {
	shapes  []lab.Shape
	runs    int     // of each shape
	require float64 // the least recall and precision
}

// enoughInTail is the least share of the injected requests that must be in the
// tail for a score to mean anything.
const enoughInTail = 0.8

// injectedShare of the requests of a run are made slow.
const injectedShare = 0.01

func (a *accuracy) check(ctx context.Context, s streams, plan lab.Plan) error {
	if a.require <= 0 || a.require > 1 || a.runs < 1 {
		return usageError("--require is a share above 0 and at most 1, and --runs at least 1", "tailtrace demo --require 0.99 --runs 3")
	}
	if plan.PerCause == 0 {
		plan.PerCause = 10
	}
	var low []error
	for _, shape := range a.shapes {
		plan.Shape = shape
		if err := shape.Possible(); err != nil && len(a.shapes) > 1 {
			fmt.Fprintf(s.out, "## %s\n\nLeft out: %v\n\n", shape, err)
			continue
		}
		scores, err := a.measure(ctx, s, plan)
		if err != nil {
			return fmt.Errorf("shape %s: %w", shape, err)
		}
		for _, sc := range scores {
			low = append(low, a.judge(shape, sc)...)
		}
	}
	if len(low) > 0 {
		return &hintError{errors.Join(low...), "the columns 'wrong' and 'named instead' say what it was taken for; --dir keeps the recordings", exitCheck}
	}
	return nil
}

// measure runs one shape and prints its table.
func (a *accuracy) measure(ctx context.Context, s streams, plan lab.Plan) ([]lab.CauseScore, error) {
	begin := time.Now()
	if plan.Requests == 0 {
		causes := plan.Causes
		if len(causes) == 0 {
			causes = plan.Shape.Causes()
		}
		plan.Requests = int(float64(len(causes)*plan.PerCause) / injectedShare)
	}
	var scores []lab.CauseScore
	var left []lab.LeftOut
	dir := plan.Dir
	for run := range a.runs {
		plan.Dir = filepath.Join(dir, fmt.Sprintf("%s-%d", plan.Shape, run+1))
		if err := os.MkdirAll(plan.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the demo's folder: %w", err)
		}
		t, err := try(ctx, s, plan)
		if err != nil {
			return nil, err
		}
		scores, left = lab.AddScores(scores, t.scores), t.ran.LeftOut
		plan.Seed++
	}
	fmt.Fprintf(s.out, "## %s\n\n%d runs of %d requests in %.0f s\n\n%s", plan.Shape, a.runs, plan.Requests,
		time.Since(begin).Seconds(), lab.ScoresMarkdown(scores))
	for _, l := range left {
		fmt.Fprintf(s.out, "\nLeft out: %s: %s\n", l.Cause, l.Why)
	}
	fmt.Fprintln(s.out)
	return scores, nil
}

// judge returns what is below the bar.
func (a *accuracy) judge(shape lab.Shape, s lab.CauseScore) []error {
	var low []error
	if recall, ok := s.Recall(); ok && recall < a.require {
		low = append(low, fmt.Errorf("%s, %s: recall %.3f is below %g", shape, s.Cause, recall, a.require))
	}
	if precision, ok := s.Precision(); ok && precision < a.require {
		low = append(low, fmt.Errorf("%s, %s: precision %.3f is below %g", shape, s.Cause, precision, a.require))
	}
	if float64(s.InTail) < enoughInTail*float64(s.Injected) {
		low = append(low, fmt.Errorf("%s, %s: only %d of %d are in the tail", shape, s.Cause, s.InTail, s.Injected))
	}
	return low
}
