package stats

// NextInTail is the share of tail requests whose next request is in the tail
// too, beside what it would be if the tail were spread at random. Each slice is
// one run in the order of sending; the last request of a run has no next.
func NextInTail(runs ...[]bool) (observed, chance float64) {
	follows, both := 0, 0
	expected := 0.0
	for _, tail := range runs {
		n, m, pairs := len(tail), 0, 0
		for i, in := range tail {
			if !in {
				continue
			}
			m++
			if i+1 < n {
				pairs++
				if tail[i+1] {
					both++
				}
			}
		}
		follows += pairs
		if n > 1 {
			expected += float64(pairs) * float64(m-1) / float64(n-1)
		}
	}
	if follows == 0 {
		return 0, 0
	}
	return float64(both) / float64(follows), expected / float64(follows)
}

// Second counts the requests that were sent in one second of a run.
type Second struct {
	Run      string `json:"run,omitempty"`
	Second   int    `json:"second"`
	Requests int    `json:"requests"`
	Tail     int    `json:"tail"`
}

// maxSeconds bounds the list for stamps that are far apart.
const maxSeconds = 1 << 20

// Seconds counts by whole seconds of elapsed, which is ns since the start of
// the run; seconds without a request are listed too, so that silence shows.
// It is nil for runs of more than maxSeconds.
func Seconds(run string, elapsed []int64, tail []bool) []Second {
	last := int64(-1)
	for _, at := range elapsed {
		last = max(last, at/1e9)
	}
	if last >= maxSeconds {
		return nil
	}
	seconds := make([]Second, last+1)
	for s := range seconds {
		seconds[s] = Second{Run: run, Second: s}
	}
	for i, at := range elapsed {
		s := &seconds[max(at, 0)/1e9]
		s.Requests++
		if tail[i] {
			s.Tail++
		}
	}
	return seconds
}
