package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Truth is one injected request, as those who injected it saw it.
type Truth struct {
	ID         uint64 `json:"id"`
	Cause      string `json:"cause"`       // the verdict it should get
	InjectedNS int64  `json:"injected_ns"` // what the injection took; where that cannot be seen, what was asked for
	Detail     string `json:"detail,omitempty"`

	// What the kernel counted on the service's thread meanwhile.
	MinorFaults uint32 `json:"minor_faults"`
	MajorFaults uint32 `json:"major_faults"`
	Voluntary   uint32 `json:"voluntary_switches"`
	Involuntary uint32 `json:"involuntary_switches"`
}

// ReadTruth reads a truth file.
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
