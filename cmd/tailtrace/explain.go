package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
)

func runExplain(s streams, args []string) error {
	f := newFlags(s, "explain", "FILE [--rows FILE ...] [--tail 1%] [--json FILE] [--all]",
		"Joins a recording with the client's raw rows and says why its slowest requests were slow.\nWithout rows it explains the service's own windows.")
	rowFiles := f.StringArray("rows", nil, "client rows, JSONL or .npz; may be repeated")
	tail := f.String("tail", "1%", "the slowest share of each run to explain")
	jsonOut := f.String("json", "", "also write the report as JSON to this file (- for stdout instead of text)")
	statistics := f.Bool("stats", false, "also print all statistics, not only those beside the verdicts")
	all := f.Bool("all", false, "explain every request in the JSON, not only the tail")
	if err := parse(f, args); err != nil {
		return err
	}
	path, err := oneFile(f)
	if err != nil {
		return err
	}
	fraction, err := tailFraction(*tail)
	if err != nil {
		return err
	}
	o := correlate.Options{Tail: fraction, All: *all}
	_, x, err := analyze(path, *rowFiles, o)
	if err != nil {
		return err
	}
	if *jsonOut == "-" {
		return writeJSON(s.out, x)
	}
	if *jsonOut != "" {
		if err := saveJSON(*jsonOut, x); err != nil {
			return err
		}
	}
	if err := x.Text(s.out); err != nil || !*statistics {
		return err
	}
	fmt.Fprintln(s.out)
	return x.StatsText(s.out)
}

// analyze reads a recording and rows and builds the report.
func analyze(path string, rowFiles []string, o correlate.Options) (*correlate.Result, *report.Explain, error) {
	rec, err := openRecording(path)
	if err != nil {
		return nil, nil, err
	}
	defer rec.Close()
	sets, files, err := readRows(rowFiles)
	if err != nil {
		return nil, nil, err
	}
	res, err := correlate.Analyze(rec.open, sets, o)
	if err != nil {
		return nil, nil, fmt.Errorf("explain %s: %w", path, err)
	}
	events, err := rec.digest()
	if err != nil {
		return nil, nil, err
	}
	return res, report.Build(res, events, files, o), nil
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

func saveJSON(path string, v any) error {
	return saveFile(path, func(w io.Writer) error { return writeJSON(w, v) })
}
