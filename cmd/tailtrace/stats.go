package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

func runStats(s streams, args []string) error {
	f := newFlags(s, "stats", "ROWS... [--tail 1%] [--expected-interval D] [--json FILE] [--hlog FILE]",
		"Prints statistics of client rows alone: percentiles with intervals, repeats, bursts, pages, attributes and\nsteps. Each file, or each value of the field run, is a run of its own. Histogram logs (.hlog) have percentiles only.")
	tail := f.String("tail", "1%", "the slowest share of each run")
	interval := f.Duration("expected-interval", 0, "time between two requests of the intended schedule: adds a model of what a closed loop left out")
	jsonOut := f.String("json", "", "also write the statistics as JSON to this file (- for stdout instead of text)")
	hlogOut := f.String("hlog", "", "also write the latencies as an HdrHistogram log to this file")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return usageError("no rows given", "tailtrace stats rows.jsonl ...; run 'tailtrace stats --help'")
	}
	fraction, err := tailFraction(*tail)
	if err != nil {
		return err
	}
	if f.Changed("expected-interval") && *interval <= 0 {
		return usageError(fmt.Sprintf("--expected-interval %v is not above 0", *interval), "at 1000 requests a second it is 1ms")
	}
	in, err := readSamples(f.Args())
	if err != nil {
		return err
	}
	summary, err := in.summarize(fraction, *interval)
	if err != nil {
		return err
	}
	if *hlogOut != "" {
		if err := in.saveLog(*hlogOut); err != nil {
			return err
		}
	}
	return printStats(s.out, summary, *jsonOut)
}

func printStats(out io.Writer, f *report.StatsFile, jsonOut string) error {
	if jsonOut == "-" {
		return writeJSON(out, f)
	}
	if jsonOut != "" {
		if err := saveJSON(jsonOut, f); err != nil {
			return err
		}
	}
	return report.StatsText(out, f.Summary)
}

func (in *samples) summarize(fraction float64, interval time.Duration) (*report.StatsFile, error) {
	f := &report.StatsFile{Rows: in.files}
	var err error
	switch {
	case in.logs == nil:
		f.Summary, err = stats.Summarize(in.sets, stats.Options{Fraction: fraction, ExpectedInterval: int64(interval)})
	case interval != 0:
		return nil, usageError("--expected-interval needs rows, and these are histograms", "")
	default:
		f.Summary, err = stats.SummarizeLogs(in.logs)
	}
	return f, err
}

// saveLog writes the rows' latencies as a histogram log.
func (in *samples) saveLog(path string) error {
	if in.logs != nil {
		return usageError("--hlog needs rows, and these are histograms already", "")
	}
	log, err := stats.LogOf(in.sets)
	if err != nil {
		return err
	}
	return saveFile(path, log.Write)
}

// saveFile creates a file and lets write fill it.
func saveFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("create output: %w", err)
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
