package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Truth is one request, as those who sent and served it saw it.
type Truth struct {
	ID         uint64 `json:"id"`
	Cause      string `json:"cause,omitempty"`       // the verdict it should get; empty = nothing was injected
	InjectedNS int64  `json:"injected_ns,omitempty"` // what the injection took; where that cannot be seen, what was asked for
	Detail     string `json:"detail,omitempty"`
	// Beside is the cause of another request that was under way meanwhile, or
	// of an injection into this one that came to nothing.
	Beside    string `json:"beside,omitempty"`
	LatencyNS int64  `json:"latency_ns"` // of the client's row
	AfterNS   int64  `json:"after_ns"`   // of it, since the service had sent its answer

	// What the kernel counted on the service's thread meanwhile; no CPU time
	// = it was not asked.
	CPUNS       int64  `json:"cpu_ns,omitempty"`
	WaitedNS    int64  `json:"waited_ns,omitempty"` // runnable without a CPU
	AheadNS     int64  `json:"ahead_ns,omitempty"`  // the same, of the threads that had it before, and of this one since its answer before
	MinorFaults uint32 `json:"minor_faults"`
	MajorFaults uint32 `json:"major_faults"`
	Voluntary   uint32 `json:"voluntary_switches"`
	Involuntary uint32 `json:"involuntary_switches"`
}

// ReadTruth reads a truth file: all measured requests, in the order of their
// answers.
func ReadTruth(r io.Reader) ([]Truth, error) {
	var truth []Truth
	dec := json.NewDecoder(r)
	for {
		var t Truth
		err := dec.Decode(&t)
		if errors.Is(err, io.EOF) {
			return truth, nil
		}
		if err != nil {
			return truth, fmt.Errorf("parse truth %d: %w", len(truth)+1, err)
		}
		truth = append(truth, t)
	}
}
