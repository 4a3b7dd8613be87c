package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/tailtrace/tailtrace/collector"
	"github.com/tailtrace/tailtrace/collector/ringfollow"
)

const recordText = `Records the kernel's events of a service, and the request windows that it publishes, until Ctrl-C,
--duration, or the exit of the last target. Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE.`

func runRecord(s streams, args []string) error {
	f := newFlags(s, "record", "-pid PID[,PID...] -out FILE", recordText)
	pid := f.String("pid", "", "process to trace, with all its threads; several with commas or spaces")
	c := collector.Config{Args: args, Tool: toolName()}
	f.StringVar(&c.Out, "out", "", "events file to write; must not exist")
	f.BoolVar(&c.Force, "force", false, "replace an existing events file")
	f.DurationVar(&c.Duration, "duration", 0, "stop after this long, as in 90s (0: until stopped)")
	f.StringVar(&c.Ring, "ring", "auto", "the service's request ring: auto, none, or a path")
	f.IntVar(&c.SampleHz, "sample", collector.DefaultSampleHz, "cpu-clock samples a second and CPU; 0 turns them off")
	f.StringVar(&c.Stacks, "stacks", collector.DefaultStacks, "stacks to take: off, cpu (at samples), or all (also when a thread blocks)")
	f.BoolVar(&c.NoFollow, "no-follow", false, "leave out child processes")
	f.BoolVar(&c.NoCmdlines, "no-cmdlines", false, "leave out the command lines of other processes, which may hold secrets")
	f.IntVar(&c.BufferBytes, "buffer", 0, "kernel buffer for all CPUs, bytes (0: chosen)")
	addTypesFlag(f, &c)
	quiet := addQuietFlags(f)
	if err := missingPid(args); err != nil {
		return err
	}
	if err := parse(f, args); err != nil {
		return err
	}
	var err error
	if c.Pids, err = pids(f, *pid); err != nil {
		return err
	}
	if c.Out == "" {
		return usageError("no output file given", "tailtrace -pid PID -out events.bin")
	}
	if c.Ring != "auto" && c.Ring != "none" {
		// One that is not there yet is waited for.
		if err := ringfollow.Check(c.Ring); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return withHint(err, "--ring auto finds the rings of the traced processes")
		}
	}
	return record(s, c, quiet)
}

// addTypesFlag adds the flag for kernels that do not know their types.
func addTypesFlag(f *pflag.FlagSet, c *collector.Config) {
	f.Func("btf", "`FILE` with this kernel's types (BTF), for one that has none itself", func(path string) error {
		if path == "" {
			return errors.New("no file given")
		}
		c.BTF = path
		return nil
	})
}

// missingPid catches `-pid $(pgrep nothing) -out FILE`, in which an ordinary
// flag parser would take -out for the pid.
func missingPid(args []string) error {
	for i, a := range args {
		if a != "-pid" && a != "--pid" {
			continue
		}
		if i+1 == len(args) || strings.HasPrefix(args[i+1], "-") || strings.TrimSpace(args[i+1]) == "" {
			return errNoPid
		}
	}
	return nil
}

var errNoPid = usageError("no pid after -pid", "if it came from pgrep, no process has that name: is the service running?")

// pids takes the pids of -pid and, as pgrep prints one a line, the numbers that
// a shell made of further lines.
func pids(f *pflag.FlagSet, text string) ([]int, error) {
	if !f.Changed("pid") {
		return nil, usageError("no pid given", "tailtrace -pid $(pgrep NAME) -out events.bin")
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	if len(words) == 0 {
		return nil, errNoPid
	}
	var list []int
	for _, w := range append(words, f.Args()...) {
		n, err := strconv.Atoi(w)
		if err != nil || n <= 0 {
			return nil, usageError(fmt.Sprintf("%q is not a pid", w), "a pid is a whole number above 0; find it with pgrep NAME")
		}
		list = append(list, n)
	}
	return list, nil
}

func record(s streams, c collector.Config, quiet *quietFlags) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if quiet.wanted() {
		q, err := quiet.check(ctx, c.Duration)
		if err == nil {
			err = refusal(q)
		}
		if err != nil {
			return err
		}
		c.Notes = append(c.Notes, q.String())
	}
	line := newLiveLine(s.err)
	if err := collector.GiveWay(); err != nil {
		line.log(err.Error())
	}
	c.Progress = line.show
	c.Log = line.log
	sum, err := collector.Run(ctx, c)
	line.end()
	if sum != nil {
		printSummary(s, c.Out, sum)
	}
	return err
}
