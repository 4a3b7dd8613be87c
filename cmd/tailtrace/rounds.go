package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// side is one side of a comparison.
type side struct {
	rounds []report.Round
	sets   []*rows.Set // of those that are rows
}

func readSide(paths []string) (*side, error) {
	s := &side{}
	for _, path := range paths {
		doc, err := readDocument(path)
		if err != nil {
			return nil, err
		}
		if doc != nil {
			rounds, err := doc.Rounds()
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
			s.rounds = append(s.rounds, rounds...)
			continue
		}
		if err := s.addSamples(path); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *side) addSamples(path string) error {
	in, err := readSamples([]string{path})
	if err != nil {
		return err
	}
	var runs []stats.RunSummary
	if in.logs != nil {
		summary, err := stats.SummarizeLogs(in.logs)
		if err != nil {
			return err
		}
		runs = summary.Runs
	} else {
		runs = stats.Repeats(in.sets)
	}
	s.sets = append(s.sets, in.sets...)
	s.rounds = append(s.rounds, report.RoundsOf(runs, in.files[0])...)
	return nil
}

// readDocument reads a report's JSON; nil for a file of another kind.
func readDocument(path string) (*report.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	var head struct{ Schema string }
	// The first line of rows is an object too, but without a schema.
	if err := json.NewDecoder(f).Decode(&head); err != nil || head.Schema == "" {
		return nil, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("rewind %s: %w", path, err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	d, err := digest(path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	doc, err := report.ReadDocument(text, d)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return doc, nil
}
