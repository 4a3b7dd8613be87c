package main

import (
	"fmt"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

func runBurst(s streams, args []string) error {
	f := newFlags(s, "burst", "FILE [--rows FILE ...] [--second N | --worst K]",
		"Lists the seconds with the most tail requests, and for the chosen ones what happened in each\nof their tail requests, in time order. Seconds count from the run's first request that is not warm-up.")
	rowFiles := f.StringArray("rows", nil, "client rows, JSONL or .npz; may be repeated")
	second := f.Int("second", -1, "the second to drill into")
	worst := f.Int("worst", 1, "drill into the K seconds with the most tail requests")
	tail := f.String("tail", "1%", "the slowest share of each run to explain")
	if err := parse(f, args); err != nil {
		return err
	}
	path, err := oneFile(f)
	if err != nil {
		return err
	}
	if f.Changed("second") && f.Changed("worst") {
		return usageError("--second and --worst exclude each other", "give one of them")
	}
	if f.Changed("second") && *second < 0 || *worst < 0 {
		return usageError("seconds count from 0", "")
	}
	fraction, err := tailFraction(*tail)
	if err != nil {
		return err
	}
	return burst(s, path, *rowFiles, fraction, *second, *worst)
}

func burst(s streams, path string, rowFiles []string, fraction float64, second, worst int) error {
	rec, err := openRecording(path)
	if err != nil {
		return err
	}
	defer rec.Close()
	sets, _, err := readRows(rowFiles)
	if err != nil {
		return err
	}
	var all, chosen []stats.Second
	pick := func(reqs []*correlate.Request) func(*correlate.Request) bool {
		all = report.Seconds(reqs)
		chosen = chooseSeconds(all, second, worst)
		return func(r *correlate.Request) bool {
			for _, c := range chosen {
				if r.Tail && r.Run == c.Run && report.SecondOf(r) == c.Second {
					return true
				}
			}
			return false
		}
	}
	res, err := correlate.Analyze(rec.open, sets, correlate.Options{Tail: fraction, Tell: pick})
	if err != nil {
		return fmt.Errorf("explain %s: %w", path, err)
	}
	if second >= 0 && len(chosen) == 0 {
		last := 0
		for _, x := range all {
			last = max(last, x.Second)
		}
		return usageError(fmt.Sprintf("second %d has no requests", second), fmt.Sprintf("the last second with requests is %d", last))
	}
	return report.NewBurst(res, chosen).Text(s.out)
}

// chooseSeconds takes the given second of every run, or the worst ones.
func chooseSeconds(all []stats.Second, second, worst int) []stats.Second {
	if second < 0 {
		return report.Busiest(all, worst)
	}
	var list []stats.Second
	for _, x := range all {
		if x.Second == second {
			list = append(list, x)
		}
	}
	return list
}
