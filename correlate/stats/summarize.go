package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tailtrace/tailtrace/correlate/rows"
)

// Options of Summarize. Flags and Steps are parallel to the rows of all sets in
// their order, warm-up included.
type Options struct {
	Fraction         float64 // of each run that is its tail; 0: TailFraction
	ExpectedInterval int64   // ns between sends of the intended schedule; 0: do not correct
	Flags            []Flag  // to be held against the tail along with what the rows tell
	Steps            []Step  // nil: those that the rows have
	// Windows says that the rows are the service's own windows: nothing is
	// known of when their clients sent them.
	Windows bool
}

// Summarize computes all statistics of rows alone.
func Summarize(sets []*rows.Set, options Options) (*Summary, error) {
	fraction := cmp.Or(options.Fraction, TailFraction)
	if !(fraction > 0 && fraction <= 1) {
		return nil, fmt.Errorf("summarize rows: a tail of %g of the requests is none", fraction)
	}
	s := &Summary{Schema: Schema, Warnings: []string{}, Seconds: []Second{}, Bursts: []Burst{}}
	s.count(sets)
	if s.N == 0 {
		return nil, fmt.Errorf("summarize rows: none is left to count: %d are warm-up, %d were set aside", s.Warmup, s.Quarantined)
	}
	runs := runsOf(sets, fraction)
	s.distribution(runs, fraction)
	s.overTime(runs, options.Windows)
	var percentiles []Percentiles
	for _, r := range runs {
		s.Runs = append(s.Runs, r.summary())
		percentiles = append(percentiles, r.percentiles)
	}
	s.AcrossRuns = spreadsOf(percentiles)
	s.Pages = Pages(tails(runs)...)
	tail := slices.Concat(tails(runs)...)
	s.Attributes = Attributes(tail, allFlags(runs, options.Flags))
	s.Steps = Steps(tail, allSteps(runs, options.Steps))
	if options.ExpectedInterval != 0 {
		if err := s.correct(runs, options.ExpectedInterval); err != nil {
			return nil, err
		}
	}
	s.warn(sets, runs, options)
	return s, nil
}

func (s *Summary) count(sets []*rows.Set) {
	for _, set := range sets {
		s.Quarantined += len(set.Quarantined)
		for i := range set.Rows {
			row := &set.Rows[i]
			if row.Warmup {
				s.Warmup++
				continue
			}
			s.N++
			if row.Failed() {
				s.Errors++
			}
			if row.Timeout {
				s.Timeouts++
			}
		}
	}
}

// distribution fills in what does not depend on the order of requests.
func (s *Summary) distribution(runs []*run, fraction float64) {
	all := runs[0].sorted
	if len(runs) > 1 {
		all = nil
		for _, r := range runs {
			all = append(all, r.sorted...)
		}
		slices.Sort(all)
	}
	s.Percentiles = percentilesOfSorted(all)
	s.Labels = Labels(len(all))
	s.Intervals = intervalsOf(all)
	s.Tail = TailSummary{Fraction: fraction, Threshold: math.MaxInt64}
	for _, r := range runs {
		s.Tail.Count += r.tailCount
		s.Tail.Threshold = min(s.Tail.Threshold, r.threshold)
	}
}

// overTime fills in how the tail lies in time. Figures of one run are averaged
// over the runs by their number of requests, p-values by their median.
func (s *Summary) overTime(runs []*run, windows bool) {
	s.NextInTail, s.NextByChance = NextInTail(tails(runs)...)
	var rateP, inFlightP, perSecond []float64
	closed := 0
	for _, r := range runs {
		name := ""
		if len(runs) > 1 {
			name = r.name
		}
		for _, b := range r.bursts {
			b.Run = name
			s.Bursts = append(s.Bursts, b)
		}
		seconds := Seconds(name, r.begin, r.tail)
		s.Seconds = append(s.Seconds, seconds...)
		for _, second := range seconds {
			perSecond = append(perSecond, float64(second.Tail))
		}
		weight := float64(len(r.rows)) / float64(s.N)
		s.Autocorrelation += weight * Autocorrelation(floats(r.latency))
		load := loadOf(r.send, r.latency, inFlightOf(r.send, r.recv), r.tail)
		s.Load.RateRho += weight * load.RateRho
		s.Load.InFlightRho += weight * load.InFlightRho
		rateP, inFlightP = append(rateP, load.RateP), append(inFlightP, load.InFlightP)
		if !windows && !r.scheduled && closedLoop(r.send, r.recv) {
			closed++
		}
	}
	s.Dispersion = Dispersion(perSecond)
	s.Load.RateP, s.Load.InFlightP = median(rateP), median(inFlightP)
	s.ClosedLoop = 2*closed > len(runs)
	s.Period = commonPeriod(runs)
	s.Signature = signatureOf(s.Tail.Count, s.Period, s.Load)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// commonPeriod is the period that at least half of the runs show, within five
// percent of each other; one run in many may show one by chance.
func commonPeriod(runs []*run) *Period {
	var found []Period
	for _, r := range runs {
		if p := r.period(); p != nil {
			found = append(found, *p)
		}
	}
	slices.SortFunc(found, func(a, b Period) int { return cmp.Compare(a.Seconds, b.Seconds) })
	var most []Period
	for from := range found {
		to := from
		for to < len(found) && found[to].Seconds <= 1.05*found[from].Seconds {
			to++
		}
		if to-from > len(most) {
			most = found[from:to]
		}
	}
	if len(most) == 0 || 2*len(most) < len(runs) {
		return nil
	}
	common := most[len(most)/2]
	for _, p := range most {
		common.P = max(common.P, p.P)
	}
	return &common
}

// correct adds the model of a fixed schedule.
func (s *Summary) correct(runs []*run, interval int64) error {
	var latencies []int64
	for _, r := range runs {
		if r.scheduled {
			return errors.New("correct for coordinated omission: the rows have intended_ns, their latency is already that of the schedule")
		}
		latencies = append(latencies, r.latency...)
	}
	var err error
	s.Corrected, err = Correct(latencies, interval)
	return err
}
