package stats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// LogInterval is one line of an HdrHistogram log (.hlog): the histogram of an
// interval.
type LogInterval struct {
	Tag    string
	Start  int64 // ns since the log's start or since 1970, as the log has it
	Length int64 // ns
	Hist   *hdrhistogram.Histogram
}

// HistogramLog is an .hlog file. Its values are taken as ns.
type HistogramLog struct {
	StartTime int64 // ns since 1970; 0 where the log does not say
	BaseTime  int64 // ns to add to interval starts; likewise
	Intervals []LogInterval
}

// maxLogLine bounds a line; histograms of five digits stay well below.
const maxLogLine = 16 << 20

// ReadHistogramLog reads log versions 1.2 and 1.3 with V2 histograms. Lines are
// parsed here, not by the library's reader, which adds the start time where
// interval starts are relative to it and keeps whole seconds of base times.
func ReadHistogramLog(r io.Reader) (*HistogramLog, error) {
	log := &HistogramLog{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLogLine)
	for number := 1; lines.Scan(); number++ {
		if err := log.parseLine(strings.TrimSpace(lines.Text())); err != nil {
			return nil, fmt.Errorf("read histogram log: line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read histogram log: %w", err)
	}
	if len(log.Intervals) == 0 {
		return nil, errors.New("read histogram log: there is no histogram in it")
	}
	return log, nil
}

func (log *HistogramLog) parseLine(line string) (err error) {
	switch {
	case line == "" || line[0] == '"': // the legend
		return nil
	case strings.HasPrefix(line, "#[StartTime: "):
		log.StartTime, err = headerTime(line, "#[StartTime: ")
		return err
	case strings.HasPrefix(line, "#[BaseTime: "):
		log.BaseTime, err = headerTime(line, "#[BaseTime: ")
		return err
	case line[0] == '#':
		return nil
	}
	var next LogInterval
	if rest, ok := strings.CutPrefix(line, "Tag="); ok {
		next.Tag, line, _ = strings.Cut(rest, ",")
	}
	fields := strings.SplitN(line, ",", 4)
	if len(fields) != 4 {
		return errors.New("not start, length, maximum and histogram")
	}
	if next.Start, err = seconds(fields[0]); err != nil {
		return fmt.Errorf("parse interval start: %w", err)
	}
	if next.Length, err = seconds(fields[1]); err != nil {
		return fmt.Errorf("parse interval length: %w", err)
	}
	if next.Hist, err = hdrhistogram.Decode([]byte(fields[3])); err != nil {
		return fmt.Errorf("decode histogram: %w", err)
	}
	log.Intervals = append(log.Intervals, next)
	return nil
}

func headerTime(line, prefix string) (int64, error) {
	text := strings.TrimPrefix(line, prefix)
	if end := strings.IndexAny(text, " ]"); end >= 0 {
		text = text[:end]
	}
	return seconds(text)
}

// seconds parses decimal seconds to ns, keeping milliseconds exact.
func seconds(text string) (int64, error) {
	s, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, err
	}
	if !(math.Abs(s) < math.MaxInt64/1e9) {
		return 0, fmt.Errorf("%s s is out of range", text)
	}
	return int64(math.Round(s*1e6)) * 1000, nil
}

// Write writes the log as version 1.3. The maximum of an interval is in ms, as
// the format has it for values in ns.
func (log *HistogramLog) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "#[Histogram log format version 1.3]\n")
	if log.StartTime != 0 {
		fmt.Fprintf(out, "#[StartTime: %s (seconds since epoch)]\n", decimal(log.StartTime))
	}
	if log.BaseTime != 0 {
		fmt.Fprintf(out, "#[BaseTime: %s (seconds since epoch)]\n", decimal(log.BaseTime))
	}
	fmt.Fprintln(out, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	for _, interval := range log.Intervals {
		encoded, err := interval.Hist.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return fmt.Errorf("write histogram log: %w", err)
		}
		if interval.Tag != "" {
			if strings.ContainsAny(interval.Tag, ", \r\n\t") {
				return fmt.Errorf("write histogram log: tag %q has a comma or white space", interval.Tag)
			}
			fmt.Fprintf(out, "Tag=%s,", interval.Tag)
		}
		fmt.Fprintf(out, "%s,%s,%.3f,%s\n", decimal(interval.Start), decimal(interval.Length), float64(interval.Hist.Max())/1e6, encoded)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return nil
}

// decimal prints ns as seconds with milliseconds.
func decimal(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }
