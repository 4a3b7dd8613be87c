package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

// samples are latencies from files: rows or histogram logs, not both.
type samples struct {
	sets  []*rows.Set
	logs  map[string]*stats.HistogramLog // by file; nil for rows
	files []report.File
}

func readSamples(paths []string) (*samples, error) {
	in := &samples{}
	for _, path := range paths {
		isLog, err := isHistogramLog(path)
		if err != nil {
			return nil, err
		}
		if !isLog {
			continue
		}
		if in.logs == nil {
			in.logs = map[string]*stats.HistogramLog{}
		}
		log, digest, err := readLog(path)
		if err != nil {
			return nil, err
		}
		in.logs[path], in.files = log, append(in.files, digest)
	}
	switch {
	case in.logs == nil:
		var err error
		in.sets, in.files, err = readRows(paths)
		return in, err
	case len(in.files) < len(paths):
		return nil, usageError("rows and histogram logs do not go together", "make a log of the rows first: tailtrace export ROWS --format hlog --out FILE")
	}
	return in, nil
}

// isHistogramLog tells a log by its first bytes: a comment or the legend.
// Without either it must have the name of one.
func isHistogramLog(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open rows: %w", err)
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("read rows: %w", err)
	}
	head = bytes.TrimLeft(head[:n], " \t\r\n")
	return bytes.HasPrefix(head, []byte("#")) || bytes.HasPrefix(head, []byte(`"StartTime`)) || filepath.Ext(path) == ".hlog", nil
}

func readLog(path string) (*stats.HistogramLog, report.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, report.File{}, fmt.Errorf("open histogram log: %w", err)
	}
	defer f.Close()
	log, err := stats.ReadHistogramLog(f)
	if err != nil {
		return nil, report.File{}, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, report.File{}, fmt.Errorf("rewind histogram log: %w", err)
	}
	d, err := digest(path, f)
	return log, d, err
}
