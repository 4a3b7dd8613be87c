package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// exporters write what a format has of the requests.
var exporters = map[string]func(*exported, io.Writer) error{
	"hlog": func(x *exported, w io.Writer) error {
		log, err := stats.LogOf(x.sets)
		if err != nil {
			return err
		}
		return log.Write(w)
	},
	"csv":   func(x *exported, w io.Writer) error { return x.table.CSV(w) },
	"jsonl": func(x *exported, w io.Writer) error { return x.table.JSONL(w) },
}

// exported is what there is to write: the requests of a recording, or rows.
type exported struct {
	sets  []*rows.Set
	table report.Table
}

func runExport(s streams, args []string) error {
	formats := strings.Join(slices.Sorted(maps.Keys(exporters)), ", ")
	f := newFlags(s, "export", "FILE --format FORMAT --out FILE [--rows FILE ...]",
		`Writes the requests of a recording, joined with rows where they are given, or of a file of rows, for other tools.
csv and jsonl have a line for each request; those of a recording have its verdict and the parts of its time.
hlog is an HdrHistogram log of the latencies, an interval for each second of each run.`)
	format := f.String("format", "", formats)
	out := f.String("out", "", "file to write (- for stdout)")
	rowFiles := f.StringArray("rows", nil, "client rows to join with a recording; may be repeated")
	tail := f.String("tail", "1%", "the slowest share of each run")
	if err := parse(f, args); err != nil {
		return err
	}
	path, err := oneFile(f)
	if err != nil {
		return err
	}
	write, ok := exporters[*format]
	if !ok {
		return usageError(fmt.Sprintf("--format %q is none", *format), "one of "+formats)
	}
	if *out == "" {
		return usageError("no output file given", "tailtrace export FILE --format "+*format+" --out requests."+*format)
	}
	fraction, err := tailFraction(*tail)
	if err != nil {
		return err
	}
	x, err := readExported(path, *rowFiles, fraction)
	if err != nil {
		return err
	}
	if *out == "-" {
		return write(x, s.out)
	}
	return saveFile(*out, func(w io.Writer) error { return write(x, w) })
}

func readExported(path string, rowFiles []string, fraction float64) (*exported, error) {
	isEvents, err := isRecording(path)
	if err != nil {
		return nil, err
	}
	if isEvents {
		res, _, err := analyze(path, rowFiles, correlate.Options{Tail: fraction, All: true})
		if err != nil {
			return nil, err
		}
		return &exported{res.Sets, report.RequestTable(res)}, nil
	}
	if len(rowFiles) > 0 {
		return nil, usageError(fmt.Sprintf("%s is no recording to join rows with", path), "a file of rows goes without --rows")
	}
	sets, _, err := readRows([]string{path})
	if err != nil {
		return nil, err
	}
	tail := stats.TailOf(sets[0].Rows, fraction).Member
	return &exported{sets, report.RowTable(sets[0], tail)}, nil
}

// isRecording tells an events file by its content.
func isRecording(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	_, err = eventfile.NewReader(f)
	return !errors.Is(err, eventfile.ErrNotEvents), nil
}
