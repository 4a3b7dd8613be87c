package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// closedLoop reports whether requests were sent only when earlier ones had been
// answered, so that a stall kept others from being sent and from being
// measured. With at most k requests in flight, the i+k-th send then follows
// the i-th answer at once: within a tenth of the median latency, nine times in
// ten. A single client that pauses between requests is recognised by the
// pause: the gap between two sends grows one for one with the latency. Sends
// must ascend.
func closedLoop(send, recv []int64) bool {
	const enough = 20
	n := len(send)
	if n < enough {
		return false
	}
	k := 1
	for _, open := range inFlightOf(send, recv) {
		k = max(k, int(open)+1)
	}
	if n-k < enough {
		return false
	}
	latencies := make([]int64, n)
	for i := range send {
		latencies[i] = recv[i] - send[i]
	}
	answers := slices.Clone(recv)
	slices.Sort(answers)
	soon := PercentilesOf(latencies).P50 / 10
	followed := 0
	for i := range n - k {
		if gap := send[i+k] - answers[i]; gap >= 0 && gap <= soon {
			followed++
		}
	}
	return followed*10 >= (n-k)*9 || k == 1 && pausingLoop(send, latencies)
}

// pausingLoop fits the gaps between sends by the latencies, by least squares.
// In a closed loop with pauses the slope is one, in an open one zero.
func pausingLoop(send, latencies []int64) bool {
	n := float64(len(send) - 1)
	var sumX, sumY, sumXX, sumXY, sumYY float64
	for i := range len(send) - 1 {
		x, y := float64(latencies[i]), float64(send[i+1]-send[i])
		sumX, sumY, sumXX, sumXY, sumYY = sumX+x, sumY+y, sumXX+x*x, sumXY+x*y, sumYY+y*y
	}
	xx, xy, yy := sumXX-sumX*sumX/n, sumXY-sumX*sumY/n, sumYY-sumY*sumY/n
	if xx <= 0 {
		return false
	}
	slope := xy / xx
	deviation := math.Sqrt(max(yy-slope*xy, 0) / (n - 2) / xx)
	return math.Abs(slope-1) < .1 && deviation < .05
}

// Corrected is a model, not a measurement: the percentiles that a schedule of
// one request each ExpectedIntervalNs would have seen, if every latency beyond
// the interval had delayed the requests behind it (HdrHistogram's correction
// for coordinated omission).
type Corrected struct {
	ExpectedIntervalNs int64       `json:"expected_interval_ns"`
	N                  int64       `json:"n"` // with the requests that were never sent
	MeanNs             float64     `json:"mean_ns"`
	Percentiles        Percentiles `json:"percentiles_ns"`
}

// maxCorrected bounds the requests that a correction may make up.
const maxCorrected = 100_000_000

// Correct applies the correction for an interval of ns to latencies.
func Correct(latencies []int64, interval int64) (*Corrected, error) {
	if interval <= 0 {
		return nil, fmt.Errorf("correct for coordinated omission: the expected interval is %d ns", interval)
	}
	added, most := int64(0), int64(1)
	for _, latency := range latencies {
		added += latency / interval
		most = max(most, latency)
		if added > maxCorrected {
			return nil, fmt.Errorf("correct for coordinated omission: an expected interval of %d ns makes up more than %d requests", interval, maxCorrected)
		}
	}
	h, err := correctedHistogram(latencies, interval, most)
	if err != nil {
		return nil, fmt.Errorf("correct for coordinated omission: %w", err)
	}
	return &Corrected{interval, h.TotalCount(), h.Mean(), HistogramPercentiles(h)}, nil
}

func correctedHistogram(latencies []int64, interval, most int64) (*hdrhistogram.Histogram, error) {
	h := hdrhistogram.New(1, max(most, 2), 3)
	for _, latency := range latencies {
		if err := h.RecordCorrectedValue(latency, interval); err != nil {
			return nil, err
		}
	}
	return h, nil
}
