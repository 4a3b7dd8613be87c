package stats

import (
	"fmt"
	"slices"
	"time"
)

// Spread is how a percentile moves from run to run. The range holds the median
// of all runs that could be made with Coverage; Bootstrap resamples whole runs
// and takes their median (exact, by formula).
type Spread struct {
	Min       int64   `json:"min"`
	Median    int64   `json:"median"`
	Max       int64   `json:"max"`
	Coverage  float64 `json:"coverage"`
	Bootstrap Bounds  `json:"bootstrap"`
}

// SpreadOf describes one percentile's values, one for each run.
func SpreadOf(values []int64) Spread {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return Spread{
		Min:       NearestRank(sorted, 0),
		Median:    NearestRank(sorted, .5),
		Max:       NearestRank(sorted, 1),
		Coverage:  RangeCoverage(len(sorted)),
		Bootstrap: BootstrapInterval(len(sorted), .5).Of(sorted),
	}
}

// spreadsOf all percentiles over the runs; nil for fewer than two.
func spreadsOf(runs []Percentiles) map[string]Spread {
	if len(runs) < 2 {
		return nil
	}
	out := map[string]Spread{}
	for _, name := range percentileNames() {
		values := make([]int64, len(runs))
		for i, p := range runs {
			values[i] = p.Get(name)
		}
		out[name] = SpreadOf(values)
	}
	return out
}

func percentileNames() []string {
	names := make([]string, 0, len(Quantiles)+1)
	for _, quantile := range Quantiles {
		names = append(names, quantile.Name)
	}
	return append(names, Max)
}

// restlessPercentiles warns of percentiles that move more between runs than
// any run's own interval allows: then an interval from within a run says
// little about the next run.
func restlessPercentiles(runs []*run, spread map[string]Spread) (warnings []string) {
	for _, quantile := range Quantiles {
		widest := int64(-1)
		for _, r := range runs {
			b := IntervalOf(len(r.sorted), quantile.Q).Of(r.sorted)
			if b[0] == nil || b[1] == nil {
				widest = -1
				break
			}
			widest = max(widest, *b[1]-*b[0])
		}
		if s, ok := spread[quantile.Name]; ok && widest >= 0 && s.Max-s.Min > widest {
			warnings = append(warnings, fmt.Sprintf(
				"%s ranges over %v between runs, more than the %v of any run's own interval: only the range tells what the next run may give",
				quantile.Name, time.Duration(s.Max-s.Min), time.Duration(widest)))
		}
	}
	return warnings
}
