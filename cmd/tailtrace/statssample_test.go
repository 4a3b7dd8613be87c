package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// load is a small workload on one connection.
type load struct {
	seed     uint32
	n        int
	extra    int64 // ns by which half of the requests of two customers is slower
	bursts   bool  // and half of forty requests in a row, each thousand
	schedule int64 // ns between the times at which requests should be sent; 0: one after the other
}

// writeStatsSample leaves client rows whose statistics are frozen in the
// scripts: three rounds of a base and of an arm that mends the tail but not the
// median; rows in bursts; few rows; rows on a schedule that cannot be kept; and
// rows as NumPy arrays.
func writeStatsSample(dir string) error {
	loads := map[string]load{
		"bursts": {seed: 4, n: 4000, bursts: true},
		"few":    {seed: 5, n: 94},
		"open":   {seed: 6, n: 500, extra: 3_000_000, schedule: 1_000_000},
	}
	for round := range 3 {
		loads[fmt.Sprintf("base%d", round+1)] = load{seed: uint32(round + 1), n: 2000, extra: 600_000}
		loads[fmt.Sprintf("arm%d", round+1)] = load{seed: uint32(round + 11), n: 2000, extra: 100_000}
	}
	for name, l := range loads {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(l.rows()), 0o644); err != nil {
			return err
		}
	}
	npz, err := os.ReadFile("../../correlate/stats/testdata/sample.npz")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "sample.npz"), npz, 0o644)
}

// rows makes n rows and ten of warm-up.
func (l load) rows() string {
	rng := rand.New(rand.NewPCG(uint64(l.seed), 0))
	var text strings.Builder
	const start = int64(5_000_000_000_000)
	at := start
	for i := range l.n + 10 {
		latency, customer := 900_000+rng.Int64N(20_000), rng.IntN(50)
		switch {
		case i < 10:
			latency += 2_000_000
		case l.bursts && i%1000 >= 500 && i%1000 < 540 && rng.IntN(2) == 0:
			latency += 300_000 + rng.Int64N(100_000)
		case (customer == 3 || customer == 7) && rng.IntN(2) == 0:
			latency += l.extra
		}
		due := start + int64(i)*l.schedule
		at = max(at, due)
		fmt.Fprintf(&text, `{"id": %d, "send_ns": %d, "recv_ns": %d, "status": %d, "warmup": %v, "customer": "c%d", "cold": %v, "steps": {"read": %d, "predict": %d}`,
			1000001+i, at, at+latency, 200+i%500/499*303, i < 10, customer, rng.IntN(100) == 0, latency/4, latency*3/5)
		if l.schedule > 0 {
			fmt.Fprintf(&text, `, "intended_ns": %d`, due)
		}
		text.WriteString("}\n")
		at += latency + 30_000
	}
	return text.String()
}
