package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
)

// profileOptions are the flags of profile.
type profileOptions struct {
	rows        []string
	tail        float64
	of          string
	offCPU      bool
	format, out string
	top         int
}

func runProfile(s streams, args []string) error {
	f := newFlags(s, "profile", "FILE [--rows FILE ...] [--of tail|rest|REQUEST] [--cpu|--off-cpu] [--format text|folded|pprof]",
		"Takes a profile over the requests of the tail alone, and sets it beside the rest's: in which\nfunctions their threads ran, or waited. Only what a thread did for a request counts.")
	var o profileOptions
	f.StringArrayVar(&o.rows, "rows", nil, "client rows, JSONL or .npz; may be repeated")
	tail := f.String("tail", "1%", "the slowest share of each run")
	f.StringVar(&o.of, "of", "tail", "the requests to profile: tail, rest, or the id of one")
	cpu := f.Bool("cpu", false, "on the CPU, by samples (the default)")
	f.BoolVar(&o.offCPU, "off-cpu", false, "off the CPU, by time blocked")
	f.StringVar(&o.format, "format", "text", "text, folded (for flame graphs) or pprof")
	f.StringVar(&o.out, "out", "-", "file to write, - for stdout")
	f.IntVar(&o.top, "top", 30, "functions in the text")
	if err := parse(f, args); err != nil {
		return err
	}
	path, err := oneFile(f)
	if err != nil {
		return err
	}
	if *cpu && o.offCPU {
		return usageError("--cpu and --off-cpu exclude each other", "give one of them")
	}
	if o.tail, err = tailFraction(*tail); err != nil {
		return err
	}
	write := profileWriter(&o)
	if write == nil {
		return usageError(fmt.Sprintf("--format %q is not known", o.format), "text, folded or pprof")
	}
	p, err := profileOf(path, &o)
	if err != nil {
		return err
	}
	if o.out == "-" {
		return write(p, s.out)
	}
	return saveFile(o.out, func(w io.Writer) error { return write(p, w) })
}

func profileWriter(o *profileOptions) func(*report.Profile, io.Writer) error {
	switch o.format {
	case "text":
		return func(p *report.Profile, w io.Writer) error { return p.Text(w, o.top) }
	case "folded":
		return (*report.Profile).Folded
	case "pprof":
		return (*report.Profile).Pprof
	}
	return nil
}

func profileOf(path string, o *profileOptions) (*report.Profile, error) {
	rec, err := openRecording(path)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	sets, _, err := readRows(o.rows)
	if err != nil {
		return nil, err
	}
	side := func([]*correlate.Request) func(*correlate.Request) correlate.Side { return sideOf(o.of) }
	res, err := correlate.Analyze(rec.open, sets, correlate.Options{Tail: o.tail, Profile: side})
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	if res.Profile.Of.Requests == 0 {
		return nil, usageError(fmt.Sprintf("no request %q", o.of), "--of takes tail, rest, or an id as explain shows it")
	}
	if err := checkStacks(res, o.offCPU); err != nil {
		return nil, fmt.Errorf("profile %s: %w", path, err)
	}
	of, rest := "the tail", "the rest"
	switch o.of {
	case "tail":
	case "rest":
		of = "the rest"
	default:
		of = "request " + o.of
	}
	return report.NewProfile(res, o.offCPU, of, rest), nil
}

func checkStacks(res *correlate.Result, offCPU bool) error {
	if !res.HasStacks() {
		return withHint(errors.New("the recording has no stacks"), "record with --stacks cpu or all, and --sample above 0")
	}
	if offCPU && res.Profile.OnlyUnknownWaits() {
		return withHint(errors.New("the recording has no stacks of waits"), "record with --stacks all")
	}
	return nil
}

// sideOf compares what --of names with the requests outside the tail; those
// themselves with nothing. Warm-up is in neither.
func sideOf(of string) func(*correlate.Request) correlate.Side {
	return func(r *correlate.Request) correlate.Side {
		asked := r.Tail
		switch of {
		case "tail":
		case "rest":
			asked = !r.Tail && !r.Warmup
		default:
			asked = r.Label() == of
		}
		switch {
		case asked:
			return correlate.SideOf
		case of != "rest" && !r.Tail && !r.Warmup:
			return correlate.SideRest
		}
		return correlate.SideNone
	}
}
