package stats

// What the shape of the tail over time speaks for.
const (
	SignaturePeriodic = "periodic"          // timers
	SignatureLoad     = "growing with load" // queueing or locks
	SignatureBoth     = "periodic, growing with load"
	SignatureNeither  = "neither" // faults, interrupts, preemption, the host
	SignatureUnknown  = "unknown" // too few tail requests to tell
)

// signatureTail is how many tail requests it takes to tell.
const signatureTail = 10

func signatureOf(tail int, period *Period, load Load) string {
	switch {
	case tail < signatureTail:
		return SignatureUnknown
	case period != nil && load.Growing():
		return SignatureBoth
	case period != nil:
		return SignaturePeriodic
	case load.Growing():
		return SignatureLoad
	}
	return SignatureNeither
}
