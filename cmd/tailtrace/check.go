package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/tailtrace/tailtrace/collector"
)

// checkWatch is how long check looks at what the box does.
const checkWatch = time.Second

func runCheck(s streams, args []string) error {
	f := newFlags(s, "check", "", "Attaches what a recording would, for a moment and to no process, and says what this kernel and box\nallow and what could not be said without what is missing. Needs the rights of a recording.")
	c := collector.Config{SampleHz: collector.DefaultSampleHz}
	asJSON := f.Bool("json", false, "print JSON")
	addTypesFlag(f, &c)
	quiet := addQuietFlags(f)
	duration := f.Duration("duration", 0, "with --quiet: how long the machine must stay quiet (0: 10m)")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError(fmt.Sprintf("check takes no argument, and %q is one", f.Arg(0)), "")
	}
	if quiet.wanted() {
		return checkQuiet(s, quiet, *duration, *asJSON)
	}
	report, err := collector.Check(c, checkWatch)
	if err != nil {
		return err
	}
	if *asJSON {
		return writeCapability(s.out, report)
	}
	return printCapability(s.out, report)
}

// checkQuiet needs no rights, but to see the crontabs of users.
func checkQuiet(s streams, quiet *quietFlags, duration time.Duration, asJSON bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	q, err := quiet.check(ctx, duration)
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(s.out, q)
	} else {
		err = printQuiet(s.out, q)
	}
	if err != nil {
		return err
	}
	return refusal(q)
}

func printCapability(w io.Writer, c *collector.Capability) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "kernel %s, %s, %d CPUs\n\nhook\thow\twithout it\n", c.Kernel, c.Arch, len(c.CPUs))
	for _, h := range c.Hooks {
		if h.How != "" {
			fmt.Fprintf(tw, "%s\t%s\n", h.Name, h.How)
			continue
		}
		fmt.Fprintf(tw, "%s\toff: %s\t%s\n", h.Name, h.Why, h.Lost)
	}
	fmt.Fprint(tw, "\nbox\tis\tmind\n")
	for _, f := range c.Facts {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f.Name, f.Value, f.Lost)
	}
	if c.FaultTrap >= 0 {
		fmt.Fprintf(tw, "page fault, outside of its events\t%d ns\n", c.FaultTrap)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	return nil
}

// capabilityJSON is the schema of check --json.
type capabilityJSON struct {
	Schema    string     `json:"schema"` // "tailtrace.check/1"
	Kernel    string     `json:"kernel"`
	Arch      string     `json:"arch"`
	CPUs      []int32    `json:"cpus"`
	Hooks     []hookJSON `json:"hooks"`
	Facts     []factJSON `json:"facts"`
	FaultTrap int64      `json:"fault_trap_ns"` // -1: not measured
}

// hookJSON has how the hook is attached, or why it is not and what is lost.
type hookJSON struct {
	Name string `json:"name"`
	How  string `json:"how,omitempty"`
	Why  string `json:"why,omitempty"`
	Lost string `json:"lost,omitempty"`
}

type factJSON struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Lost  string `json:"lost,omitempty"`
}

func writeCapability(w io.Writer, c *collector.Capability) error {
	out := capabilityJSON{
		Schema: "tailtrace.check/1", Kernel: c.Kernel, Arch: c.Arch, CPUs: c.CPUs,
		Hooks: []hookJSON{}, Facts: []factJSON{}, FaultTrap: c.FaultTrap,
	}
	for _, h := range c.Hooks {
		out.Hooks = append(out.Hooks, hookJSON{h.Name, h.How, h.Why, h.Lost})
	}
	for _, f := range c.Facts {
		out.Facts = append(out.Facts, factJSON(f))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("print the check: %w", err)
	}
	return nil
}
