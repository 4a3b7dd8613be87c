package report

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// Document is the JSON of an Explain or of statistics, read back.
type Document struct {
	Schema  string
	File    File
	Text    []byte
	Explain *Explain       // of Schema
	Stats   *stats.Summary // of stats.Schema, or those of Explain
	Rows    []File
}

// ReadDocument reads text, the content of file.
func ReadDocument(text []byte, file File) (*Document, error) {
	d := &Document{File: file, Text: text}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("parse a report: %w", err)
	}
	var into any
	switch d.Schema {
	case Schema:
		d.Explain = &Explain{}
		into = d.Explain
	case stats.Schema:
		d.Stats = &stats.Summary{}
		into = d.Stats
	default:
		return nil, fmt.Errorf("parse a report: the schema is %q, not %q or %q", d.Schema, Schema, stats.Schema)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("parse a report: %w", err)
	}
	if d.Explain != nil {
		d.Stats = d.Explain.Stats
	}
	return d, nil
}

// Rounds are the runs that the document tells of.
func (d *Document) Rounds() ([]Round, error) {
	if d.Stats == nil {
		return nil, errors.New("the report has no statistics: no request counted, or it is of an old version")
	}
	rounds := RoundsOf(d.Stats.Runs, d.File)
	if d.Explain == nil {
		return rounds, nil
	}
	for i := range rounds {
		rounds[i].Fraction, rounds[i].Verdicts = d.Explain.Tail.Fraction, map[string]float64{}
	}
	for name, shares := range d.Explain.verdictShares(rounds) {
		for i, share := range shares {
			rounds[i].Verdicts[name] = share
		}
	}
	return rounds, nil
}

// RoundsOf makes a round of every run in file.
func RoundsOf(runs []stats.RunSummary, file File) (rounds []Round) {
	for _, r := range runs {
		rounds = append(rounds, Round{File: file.File, SHA256: file.SHA256, Run: r.Run, N: r.N, Percentiles: r.Percentiles, Labels: r.Labels})
	}
	return rounds
}

// verdictShares counts the verdicts in each round's tail.
func (x *Explain) verdictShares(rounds []Round) map[string][]float64 {
	index := map[string]int{}
	for i, r := range rounds {
		index[r.Run] = i
	}
	shares := map[string][]float64{}
	tail := make([]float64, len(rounds))
	for i := range x.Requests {
		r := &x.Requests[i]
		at, ok := index[r.Run]
		if !ok && r.Run == "" && len(x.Rows) > 0 { // named as its file
			at, ok = index[rows.FileBase(x.Rows[0].File)]
		}
		if !ok && len(rounds) > 1 || !r.Tail {
			continue
		}
		if shares[r.Verdict] == nil {
			shares[r.Verdict] = make([]float64, len(rounds))
		}
		shares[r.Verdict][at]++
		tail[at]++
	}
	for _, s := range shares {
		for i := range s {
			s[i] /= max(tail[i], 1)
		}
	}
	return shares
}
