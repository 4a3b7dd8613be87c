package stats

import (
	"errors"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// HistogramOf counts latencies to three significant digits.
func HistogramOf(latencies []int64) (*hdrhistogram.Histogram, error) {
	most := int64(2)
	for _, latency := range latencies {
		most = max(most, latency)
	}
	h := hdrhistogram.New(1, most, 3)
	for _, latency := range latencies {
		if err := h.RecordValue(latency); err != nil {
			return nil, fmt.Errorf("count latencies: %w", err)
		}
	}
	return h, nil
}

// MergeHistograms adds up counts. Percentiles of the sum are those of all
// values; the average of percentiles is the percentile of nothing. The sum is
// as coarse as the coarsest part, because a part does not know better.
func MergeHistograms(parts ...*hdrhistogram.Histogram) (*hdrhistogram.Histogram, error) {
	if len(parts) == 0 {
		return nil, errors.New("merge histograms: there are none")
	}
	lowest, highest, digits := int64(1), int64(2), int64(5)
	for _, h := range parts {
		lowest = max(lowest, h.LowestTrackableValue())
		highest = max(highest, h.HighestTrackableValue(), h.Max())
		digits = min(digits, h.SignificantFigures())
	}
	if lowest > 1<<40 {
		return nil, fmt.Errorf("merge histograms: one tells apart only values %d apart", lowest)
	}
	sum := hdrhistogram.New(lowest, highest, int(digits))
	for _, h := range parts {
		if dropped := sum.Merge(h); dropped > 0 {
			return nil, fmt.Errorf("merge histograms: %d values do not fit", dropped)
		}
	}
	return sum, nil
}

// histogramRanks are the values of these 1-based ranks, which must ascend: each
// the highest value that its bucket stands for, 0 beyond the last.
func histogramRanks(h *hdrhistogram.Histogram, ranks ...int) []int64 {
	values := make([]int64, 0, len(ranks))
	seen := int64(0)
	for _, bar := range h.Distribution() {
		seen += bar.Count
		for bar.Count > 0 && len(values) < len(ranks) && seen >= int64(ranks[len(values)]) {
			values = append(values, bar.To)
		}
	}
	return append(values, make([]int64, len(ranks)-len(values))...)
}

// HistogramPercentiles is PercentilesOf for counted values: by nearest rank,
// where the library's own percentiles round the rank to the nearest.
func HistogramPercentiles(h *hdrhistogram.Histogram) Percentiles {
	n := int(h.TotalCount())
	v := histogramRanks(h, Rank(n, .5), Rank(n, .9), Rank(n, .99), Rank(n, .999))
	return Percentiles{P50: v[0], P90: v[1], P99: v[2], P999: v[3], Max: h.Max(), N: n}
}
