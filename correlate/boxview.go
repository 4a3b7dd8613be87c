package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// BoxFigures is what the whole machine did around a request. NaN-free: a
// figure that was not observed has its Has flag unset.
type BoxFigures struct {
	OtherBusy    float64 // share of the other CPUs' time that was busy
	HasOtherBusy bool
	Steal        float64 // share of its own CPU's time that the hypervisor took
	HasSteal     bool
	FreqKHz      float64 // of its own CPU
	HasFreq      bool
	Throttled    float64 // ns for which the service's cgroup was out of quota
	HasThrottled bool
}

// boxView is where a request stands on the machine.
type boxView struct {
	cpu   int32
	index int // into Recording.Boxes; -1: outside
}

// boxIndex returns the box sample whose interval holds t, or -1.
func (rec *Recording) boxIndex(t Time) int {
	i, _ := slices.BinarySearchFunc(rec.Boxes, t, func(b eventfile.BoxSample, t Time) int { return cmp.Compare(b.Time, t) })
	if i == len(rec.Boxes) {
		return -1
	}
	return i
}

// box returns the figures of the interval around r's middle. They are averages
// over about 100 ms, so they show what lasted, not what came and went.
func (rec *Recording) box(r *Request) BoxFigures {
	if r.box.index < 0 || r.box.index >= len(rec.Boxes) {
		return BoxFigures{}
	}
	var f BoxFigures
	b := &rec.Boxes[r.box.index]
	span := rec.boxSpan(r.box.index)
	if span <= 0 {
		return f
	}
	var busy, n float64
	for i := range b.CPUs {
		c := &b.CPUs[i]
		if c.CPU != r.box.cpu {
			if c.Busy >= 0 {
				busy += min(1, float64(c.Busy)/float64(span))
				n++
			}
			continue
		}
		if c.Steal >= 0 {
			f.Steal, f.HasSteal = min(1, float64(c.Steal)/float64(span)), true
		}
		if c.FreqKHz > 0 {
			f.FreqKHz, f.HasFreq = float64(c.FreqKHz), true
		}
	}
	if ns := rec.throttled(r.Begin, r.End); ns >= 0 {
		f.Throttled, f.HasThrottled = float64(ns), true
	}
	if n > 0 {
		f.OtherBusy, f.HasOtherBusy = busy/n, true
	}
	return f
}

// throttled is for how long the cgroup of the first target and those above it
// were out of quota, ns, over the box intervals that [from, to) lies in; -1
// where that is not known. The counter moves when such a time ends, and has
// that of all CPUs.
func (rec *Recording) throttled(from, to Time) int64 {
	first, last := rec.boxIndex(from), rec.boxIndex(to)
	if first < 0 {
		return -1
	}
	if last < 0 {
		last = len(rec.Boxes) - 1
	}
	var sum int64
	for _, b := range rec.Boxes[first : last+1] {
		if b.Throttled < 0 {
			return -1
		}
		sum += b.Throttled
	}
	return sum
}

func (rec *Recording) boxSpan(i int) int64 {
	if i == 0 {
		return int64(rec.Boxes[0].Time - rec.Header.Started)
	}
	return int64(rec.Boxes[i].Time - rec.Boxes[i-1].Time)
}

// normalBox takes the medians of the figures that were observed.
func normalBox(reqs []*Request) BoxFigures {
	var busy, steal, freq, throttled []float64
	for _, r := range reqs {
		f := &r.boxFigures
		if f.HasOtherBusy {
			busy = append(busy, f.OtherBusy)
		}
		if f.HasSteal {
			steal = append(steal, f.Steal)
		}
		if f.HasFreq {
			freq = append(freq, f.FreqKHz)
		}
		if f.HasThrottled {
			throttled = append(throttled, f.Throttled)
		}
	}
	var out BoxFigures
	out.OtherBusy, out.HasOtherBusy = middle(busy)
	out.Steal, out.HasSteal = middle(steal)
	out.FreqKHz, out.HasFreq = middle(freq)
	out.Throttled, out.HasThrottled = middle(throttled)
	return out
}

func middle(v []float64) (float64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	slices.Sort(v)
	return v[(len(v)-1)/2], true
}
