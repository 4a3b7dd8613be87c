package stats

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInFlight(t *testing.T) {
	got := inFlightOf([]int64{0, 5, 10, 20, 20}, []int64{7, 30, 12, 25, 21})
	if diff := cmp.Diff([]int64{0, 1, 1, 1, 2}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRankCorrelation(t *testing.T) {
	for _, tc := range []struct {
		a, b []float64
		rho  float64
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{10, 20, 30, 40, 1000}, 1},
		{[]float64{1, 2, 3, 4, 5}, []float64{5, 4, 3, 2, 1}, -1},
		{[]float64{1, 2, 2, 3}, []float64{1, 3, 2, 4}, .9486832980505138}, // ties get their average rank
		{[]float64{1, 1, 1}, []float64{1, 2, 3}, 0},
		{nil, nil, 0},
	} {
		rho, p := rankCorrelation(tc.a, tc.b)
		near(t, "rho", rho, tc.rho, 1e-12)
		if p <= 0 || p > 1 {
			t.Errorf("p = %g", p)
		}
	}
}

// queue sends n requests at random times, rate of them a ms, to one server.
func queue(rng *rand.Rand, n int, rate func(ms float64) float64, service func() float64) (send, recv []int64) {
	at, free := 0.0, 0.0
	for range n {
		at += rng.ExpFloat64() / rate(at)
		free = max(free, at) + service()
		send, recv = append(send, int64(at*1e6)), append(recv, int64(free*1e6))
	}
	return send, recv
}

func loadOfRun(send, recv []int64) Load {
	latency := make([]int64, len(send))
	for i := range send {
		latency[i] = recv[i] - send[i]
	}
	threshold := PercentilesOf(latency).P99
	tail := make([]bool, len(send))
	for i, l := range latency {
		tail[i] = l >= threshold
	}
	return loadOf(send, latency, inFlightOf(send, recv), tail)
}

func TestQueueingGrowsWithLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	send, recv := queue(rng, 30_000, func(float64) float64 { return .7 }, rng.ExpFloat64)
	if l := loadOfRun(send, recv); !l.Growing() || l.InFlightRho < .5 {
		t.Errorf("a queue at 70%%: %+v", l)
	}
	send, recv = queue(rng, 30_000, func(ms float64) float64 { return .3 + .6*float64(int(ms)/3000%2) }, func() float64 { return .8 })
	if l := loadOfRun(send, recv); !l.Growing() || l.RateRho < .3 {
		t.Errorf("rushes: %+v", l)
	}
}

// When everything stands still now and then, requests pile up during the
// stall. The pile is its effect, not its cause.
func TestStallsOfTheHostDoNotGrowWithLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	var send, recv []int64
	at, stall := 0.0, 1000.0
	for range 30_000 {
		at += rng.ExpFloat64()
		for at > stall+50 {
			stall += 50 + 5000*rng.ExpFloat64()
		}
		end := at + .9 + .1*rng.Float64()
		if end > stall {
			end = stall + 50 + rng.Float64()
		}
		send, recv = append(send, int64(at*1e6)), append(recv, int64(end*1e6))
	}
	if l := loadOfRun(send, recv); l.Growing() {
		t.Errorf("%+v", l)
	}
}

func TestClosedLoopOfOneClientHasNoLoadToGrowWith(t *testing.T) {
	var send, recv []int64
	rng := rand.New(rand.NewPCG(3, 4))
	at := int64(0)
	for range 5000 {
		send = append(send, at)
		at += 900e3 + int64(rng.ExpFloat64()*1e4)
		recv = append(recv, at)
		at += 5000
	}
	if l := loadOfRun(send, recv); l.Growing() || l.InFlightRho != 0 {
		t.Errorf("%+v", l)
	}
}

func TestClosedLoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	service := func() float64 {
		if rng.Float64() < .01 {
			return 5 * rng.Float64()
		}
		return .9 + .05*rng.Float64()
	}
	loop := func(workers int, pause func() float64) (send, recv []int64) {
		free := make([]float64, workers)
		for range 4000 {
			worker := 0
			for i := range free {
				if free[i] < free[worker] {
					worker = i
				}
			}
			start := free[worker]
			end := start + service()
			free[worker] = end + pause()
			send, recv = append(send, int64(start*1e6)), append(recv, int64(end*1e6))
		}
		return send, recv
	}
	fixed := func(gap float64) (send, recv []int64) {
		for i := range 4000 {
			at := float64(i) * gap
			send, recv = append(send, int64(at*1e6)), append(recv, int64((at+service())*1e6))
		}
		return send, recv
	}
	for name, tc := range map[string]struct {
		make func() (send, recv []int64)
		want bool
	}{
		"one client":              {func() ([]int64, []int64) { return loop(1, func() float64 { return .01 }) }, true},
		"eight clients":           {func() ([]int64, []int64) { return loop(8, func() float64 { return .01 + .01*rng.Float64() }) }, true},
		"one client with a pause": {func() ([]int64, []int64) { return loop(1, func() float64 { return 10 + .1*rng.Float64() }) }, true},
		"fixed rate, low load":    {func() ([]int64, []int64) { return fixed(10) }, false},
		"fixed rate, high load":   {func() ([]int64, []int64) { return fixed(1.2) }, false},
		"random arrivals, a queue": {func() ([]int64, []int64) {
			return queue(rng, 4000, func(float64) float64 { return .7 }, service)
		}, false},
		"random arrivals, busy": {func() ([]int64, []int64) {
			return queue(rng, 4000, func(float64) float64 { return .95 }, service)
		}, false},
		"too few": {func() ([]int64, []int64) { return slices.Repeat([]int64{1}, 19), slices.Repeat([]int64{2}, 19) }, false},
	} {
		send, recv := tc.make()
		if got := closedLoop(send, recv); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestSignature(t *testing.T) {
	periodic, growing := &Period{1, .005}, Load{InFlightRho: .6, InFlightP: .001}
	for _, tc := range []struct {
		tail   int
		period *Period
		load   Load
		want   string
	}{
		{9, periodic, growing, SignatureUnknown},
		{10, periodic, Load{}, SignaturePeriodic},
		{10, nil, growing, SignatureLoad},
		{10, periodic, growing, SignatureBoth},
		{10, nil, Load{InFlightRho: .6, InFlightP: .4}, SignatureNeither},
	} {
		if got := signatureOf(tc.tail, tc.period, tc.load); got != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}
