package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/tailtrace/tailtrace/collector"
)

// checkWatch is how long check looks at what the box does.
const checkWatch = time.Second

func runCheck(s streams, args []string) error {
	f := newFlags(s, "check", "", "Attaches what a recording would, for a moment and to no process, and says what this kernel and box\nallow and what could not be said without what is missing. Needs the rights of a recording.")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usageError(fmt.Sprintf("check takes no argument, and %q is one", f.Arg(0)), "")
	}
	c, err := collector.Check(collector.Config{SampleHz: collector.DefaultSampleHz, Out: "-"}, checkWatch)
	if err != nil {
		return err
	}
	return printCapability(s.out, c)
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
