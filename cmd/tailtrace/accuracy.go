package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// enough is the least share of the planned injections that must have come to
// something, and be in the tail, for a score to mean anything.
const enough = 0.5

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
		m, err := a.measure(ctx, s, plan)
		if err != nil {
			return fmt.Errorf("shape %s: %w", shape, err)
		}
		if err := m.print(s.out); err != nil {
			return err
		}
		low = append(low, a.judge(m)...)
	}
	if len(low) > 0 {
		return &hintError{errors.Join(low...), "the columns 'wrong' and 'named instead' say what it was taken for; --dir keeps the recordings", exitCheck}
	}
	return nil
}

// measured is what came of the runs of one shape.
type measured struct {
	plan   lab.Plan // of each run
	runs   int
	took   time.Duration
	scores []lab.CauseScore
	left   []string // causes that a run left out, and why
	leftOf map[string]int
	lost   uint64 // events
}

func (a *accuracy) measure(ctx context.Context, s streams, plan lab.Plan) (*measured, error) {
	if len(plan.Causes) == 0 {
		plan.Causes = plan.Shape.Causes()
	}
	if plan.Requests == 0 {
		plan.Requests = int(float64(len(plan.Causes)*plan.PerCause) / injectedShare)
	}
	m := &measured{plan: plan, runs: a.runs, leftOf: map[string]int{}}
	begin := time.Now()
	for run := range a.runs {
		plan.Dir = filepath.Join(m.plan.Dir, fmt.Sprintf("%s-%d", plan.Shape, run+1))
		if err := os.MkdirAll(plan.Dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the demo's folder: %w", err)
		}
		t, err := try(ctx, s, plan)
		if err != nil {
			return nil, err
		}
		m.scores = lab.AddScores(m.scores, t.scores)
		for _, l := range t.ran.LeftOut {
			m.left = append(m.left, l.Cause+": "+l.Why)
			m.leftOf[l.Cause]++
		}
		m.lost += t.lost
		plan.Seed++
	}
	m.took = time.Since(begin)
	return m, nil
}

func (m *measured) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "## %s\n\n%d runs of %d requests, %d for each cause in a run, in %.0f s; %d events lost\n\n%s\n",
		m.plan.Shape, m.runs, m.plan.Requests, m.plan.PerCause, m.took.Seconds(), m.lost, lab.ScoresMarkdown(m.scores))
	slices.Sort(m.left)
	for _, l := range slices.Compact(m.left) {
		fmt.Fprintf(w, "Left out: %s\n\n", l)
	}
	for _, s := range m.scores {
		for _, x := range s.Mistakes {
			fmt.Fprintf(w, "Counts against %s: %s\n\n", s.Cause, x)
		}
	}
	return err
}

// judge returns what is below the bar.
func (a *accuracy) judge(m *measured) []error {
	var low []error
	complain := func(cause, format string, args ...any) {
		low = append(low, fmt.Errorf("%s, %s: %s", m.plan.Shape, cause, fmt.Sprintf(format, args...)))
	}
	for _, cause := range m.plan.Causes {
		s := lab.CauseScore{Cause: cause}
		if i := slices.IndexFunc(m.scores, func(s lab.CauseScore) bool { return s.Cause == cause }); i >= 0 {
			s = m.scores[i]
		}
		if recall, ok := s.Recall(); ok && recall < a.require {
			complain(cause, "recall %.3f is below %g", recall, a.require)
		}
		if precision, ok := s.Precision(); ok && precision < a.require {
			complain(cause, "precision %.3f is below %g", precision, a.require)
		}
		if planned := m.plan.PerCause * (m.runs - m.leftOf[cause]); float64(s.InTail-s.Gaps-s.Disturbed) < enough*float64(planned) {
			complain(cause, "only %d of %d injections came to something; of the %d in the tail %d are in gaps and %d disturbed",
				s.Injected, planned, s.InTail, s.Gaps, s.Disturbed)
		}
	}
	return low
}
