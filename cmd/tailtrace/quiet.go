package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/tailtrace/tailtrace/collector"
)

const (
	// quietWatch is how long CPUs are watched.
	quietWatch = time.Second
	// quietFor is how long the machine must stay quiet where no duration is
	// given.
	quietFor = 10 * time.Minute
)

// quietFlags ask for a quiet machine.
type quietFlags struct {
	flags   *pflag.FlagSet
	on      bool
	maxLoad float64
	maxCPU  string
	allow   []string
}

func addQuietFlags(f *pflag.FlagSet) *quietFlags {
	q := &quietFlags{flags: f}
	f.BoolVar(&q.on, "quiet", false, "refuse (exit code 3) unless the machine is quiet and will stay so: load, CPUs, steal, timers, cron, governor, huge pages, swap, sessions")
	f.Float64Var(&q.maxLoad, "max-load", 0.10, "with --quiet: the highest load average of a quiet machine")
	f.StringVar(&q.maxCPU, "max-cpu", "15%", "with --quiet: how busy the busiest CPU of a quiet machine may be")
	f.StringSliceVar(&q.allow, "allow", nil, "with --quiet: conditions that need not hold: "+strings.Join(collector.QuietConditions, ", "))
	return q
}

// wanted reports whether the machine must be quiet; a limit asks for it too.
func (q *quietFlags) wanted() bool {
	return q.on || q.flags.Changed("max-load") || q.flags.Changed("max-cpu") || q.flags.Changed("allow")
}

func (q *quietFlags) limits(duration time.Duration) (collector.QuietLimits, error) {
	l := collector.QuietLimits{MaxLoad: q.maxLoad, Allow: q.allow, Watch: quietWatch, For: duration}
	if duration == 0 {
		l.For = quietFor
	}
	var ok bool
	if l.MaxCPU, ok = parseShare(q.maxCPU); !ok {
		return l, usageError(fmt.Sprintf("--max-cpu %q is not a share from 0 to 100%%", q.maxCPU), "give a percentage such as 15%, or a fraction such as 0.15")
	}
	if !(q.maxLoad >= 0) {
		return l, usageError(fmt.Sprintf("--max-load %g is below 0", q.maxLoad), "")
	}
	return l, nil
}

// check watches the machine.
func (q *quietFlags) check(ctx context.Context, duration time.Duration) (*collector.Quiet, error) {
	l, err := q.limits(duration)
	if err != nil {
		return nil, err
	}
	quiet, err := collector.CheckQuiet(ctx, l)
	var unknown *collector.ConditionError
	if errors.As(err, &unknown) {
		return nil, usageError(err.Error(), "")
	}
	return quiet, err
}

// refusal is the error of a machine that is not quiet, nil of one that is.
func refusal(q *collector.Quiet) error {
	broken := q.Broken()
	if len(broken) == 0 {
		return nil
	}
	var reasons, names []string
	for _, c := range broken {
		reasons = append(reasons, fmt.Sprintf("%s is %s: %s", c.Name, c.Value, c.Broken))
		names = append(names, c.Name)
	}
	return checkError(fmt.Errorf("the machine is not quiet:\n  %s", strings.Join(reasons, "\n  ")),
		fmt.Sprintf("tailtrace check --quiet says what can be done; --allow %s takes it as it is", strings.Join(names, ",")))
}

func printQuiet(w io.Writer, q *collector.Quiet) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "condition\tis\tmind\n")
	for _, c := range q.Conditions {
		mind := c.Broken
		switch {
		case mind != "" && c.Allowed:
			mind = "allowed: " + mind
		case mind != "" && c.Fix != "":
			mind += " (" + c.Fix + ")"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", c.Name, c.Value, mind)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	return nil
}
