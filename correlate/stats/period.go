package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Period is a rhythm in the beginnings of slow stretches, and the chance that
// beginnings at random would show one as clear.
type Period struct {
	Seconds float64 `json:"seconds"`
	P       float64 `json:"p"`
}

const (
	minOnsets      = 4   // fewer have no rhythm to speak of
	minCycles      = 3   // of a period in the run
	maxSilent      = 3   // cycles for each onset: two of three may go without
	periodP        = .01 // above it there is no period
	periodShuffles = 199 // so that p can be as small as 1/200
)

// periodOf looks for a period in onsets within span ns. The times are put in
// bins, and the strongest line of their power spectrum is compared with the
// strongest of as many onsets of the same lengths placed at random, none
// inside another. It is nil where more than one in a hundred of those is as
// strong.
func periodOf(onsets []onset, span int64, rng *rand.Rand) *Period {
	if len(onsets) < minOnsets || span <= 0 {
		return nil
	}
	times := make([]float64, len(onsets)) // 0 to 1
	free := 1.0
	for i, o := range onsets {
		times[i] = float64(o.at) / float64(span)
		free -= float64(o.lasted) / float64(span)
	}
	s := newSpectrum(len(onsets))
	line, power := s.strongest(times)
	if line == 0 {
		return nil
	}
	stronger := 0
	const allowed = periodP*(periodShuffles+1) - 1
	for range periodShuffles {
		if _, random := s.strongest(place(rng, onsets, span, max(free, 0))); random >= power {
			if stronger++; stronger > allowed {
				return nil
			}
		}
	}
	return &Period{
		Seconds: float64(span) / 1e9 / refine(times, line),
		P:       float64(stronger+1) / (periodShuffles + 1),
	}
}

// place puts onsets with the given lengths at random into the unit span.
func place(rng *rand.Rand, onsets []onset, span int64, free float64) []float64 {
	times := make([]float64, len(onsets))
	for i := range times {
		times[i] = rng.Float64() * free
	}
	slices.Sort(times)
	before := 0.0
	for i, o := range onsets {
		times[i] += before
		before += float64(o.lasted) / float64(span)
	}
	return times
}

// spectrum computes power spectra of times in the unit span. Padding with as
// much silence puts lines at half cycles too.
type spectrum struct {
	bins   int
	last   int // line
	fft    *fourier.FFT
	series []float64
	lines  []complex128
}

// newSpectrum makes one for n times, with bins that are short beside the
// shortest period looked for.
func newSpectrum(n int) *spectrum {
	bins := min(max(1<<bits.Len(uint(16*n)), 256), 1<<13)
	return &spectrum{
		bins:   bins,
		last:   min(2*maxSilent*n, bins/2),
		fft:    fourier.NewFFT(2 * bins),
		series: make([]float64, 2*bins),
	}
}

// strongest finds the line with the highest power. A comb of times is as
// strong at every multiple of its rate: the lowest line that comes near the
// highest is the one. The line is in cycles of the span, 0 for none.
func (s *spectrum) strongest(times []float64) (line, power float64) {
	clear(s.series)
	for _, t := range times {
		s.series[min(max(int(t*float64(s.bins)), 0), s.bins-1)]++
	}
	s.lines = s.fft.Coefficients(s.lines, s.series)
	most := 0.0
	for i := 2 * minCycles; i <= s.last; i++ {
		most = max(most, squared(s.lines[i]))
	}
	const nearly = .8
	for i := 2 * minCycles; i <= s.last; i++ {
		if squared(s.lines[i]) >= nearly*most {
			for i < s.last && squared(s.lines[i+1]) > squared(s.lines[i]) {
				i++
			}
			return float64(i) / 2, most
		}
	}
	return 0, 0
}

func squared(c complex128) float64 { return real(c)*real(c) + imag(c)*imag(c) }

// refine climbs from a line, in cycles of the span, to the top of its peak.
func refine(times []float64, cycles float64) float64 {
	power := func(cycles float64) float64 {
		var sin, cos float64
		for _, t := range times {
			s, c := math.Sincos(2 * math.Pi * cycles * t)
			sin, cos = sin+s, cos+c
		}
		return sin*sin + cos*cos
	}
	for step := .25; step > 1e-6; step /= 2 {
		for _, next := range []float64{cycles - step, cycles + step} {
			if power(next) > power(cycles) {
				cycles = next
			}
		}
	}
	return cycles
}
