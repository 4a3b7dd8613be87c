package correlate

import "github.com/tailtrace/tailtrace/collector/eventfile"

// missedEvidence says how many page faults at most are missing of r. The trace
// has what its threads did otherwise, so that is no gap: where these faults were
// its own, their time is running.
func (rec *Recording) missedEvidence(r *Request) []Evidence {
	var n int64
	for i := range rec.Losses {
		l := &rec.Losses[i]
		if l.Source == eventfile.LossSkipped && l.First < r.End && l.Last > r.Begin {
			n += int64(l.Count)
		}
	}
	if n == 0 {
		return nil
	}
	return []Evidence{{What: EvidenceMissedFaults, Count: n}}
}
