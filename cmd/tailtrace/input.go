package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// recording is an events file that can be read from its start any number of
// times.
type recording struct {
	path string
	file *os.File
}

func openRecording(path string) (*recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open events: %w", err)
	}
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		f.Close()
		return nil, withHint(fmt.Errorf("open events: %s is not a regular file", path), "the recording is read twice; write it to a file first")
	}
	return &recording{path, f}, nil
}

func (r *recording) Close() error { return r.file.Close() }

// open is a correlate.Opener. The readers share the file: one at a time.
func (r *recording) open() (*eventfile.Reader, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("rewind events: %w", err)
	}
	rd, err := eventfile.NewReader(r.file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	return rd, nil
}

func (r *recording) digest() (report.File, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return report.File{}, fmt.Errorf("rewind events: %w", err)
	}
	return digest(r.path, r.file)
}

func digest(path string, r io.Reader) (report.File, error) {
	h := sha256.New()
	if _, err := io.Copy(h, bufio.NewReaderSize(r, 1<<20)); err != nil {
		return report.File{}, fmt.Errorf("read %s: %w", path, err)
	}
	return report.File{File: path, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// readRows reads client rows from files.
func readRows(paths []string) ([]*rows.Set, []report.File, error) {
	var sets []*rows.Set
	var files []report.File
	for _, path := range paths {
		s, d, err := readRowsFile(path, path)
		if err != nil {
			return nil, nil, err
		}
		sets, files = append(sets, s), append(files, d)
	}
	return sets, files, nil
}

// readRowsFile reads path and names it so in messages and reports.
func readRowsFile(path, name string) (*rows.Set, report.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, report.File{}, fmt.Errorf("open rows: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, report.File{}, fmt.Errorf("open rows: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, report.File{}, fmt.Errorf("open rows: %s is not a regular file", path)
	}
	s, err := rows.Read(name, f, st.Size())
	if err != nil {
		return nil, report.File{}, err
	}
	d, err := digest(name, io.NewSectionReader(f, 0, st.Size()))
	return s, d, err
}

// tailFraction parses "1%", "0.1%" or "0.01".
func tailFraction(s string) (float64, error) {
	v, ok := parseShare(s)
	if !ok || v == 0 {
		return 0, usageError(fmt.Sprintf("--tail %q is not above 0 and at most 100%%", s), "give a percentage such as 1%, or a fraction such as 0.01")
	}
	return v, nil
}

// parseShare parses a percentage or a fraction, 0 to 1.
func parseShare(s string) (share float64, ok bool) {
	text, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(text, 64)
	if percent {
		v /= 100
	}
	return v, err == nil && v >= 0 && v <= 1
}
