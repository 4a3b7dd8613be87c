package stats

import "gonum.org/v1/gonum/stat"

// Autocorrelation is the lag-1 autocorrelation of a series: how much of a
// value's distance from the mean carries over to the next. 0 where the series
// does not vary.
func Autocorrelation(series []float64) float64 {
	mean := stat.Mean(series, nil)
	var cross, square float64
	for i, v := range series {
		square += (v - mean) * (v - mean)
		if i > 0 {
			cross += (v - mean) * (series[i-1] - mean)
		}
	}
	if square == 0 {
		return 0
	}
	return cross / square
}

// Dispersion is the variance of counts over their mean: 1 for events at
// random, more where they come in bursts. 0 without events.
func Dispersion(counts []float64) float64 {
	mean, variance := stat.MeanVariance(counts, nil)
	if len(counts) < 2 || mean == 0 {
		return 0
	}
	return variance / mean
}
