package stats

// A Flag is an attribute that each request has or has not, in the order of
// sending.
type Flag struct {
	Name string
	Has  []bool
}

// Attribute tells how common a Flag is in the tail and in all requests.
type Attribute struct {
	Name      string  `json:"name"`
	TailShare float64 `json:"tail_share"`
	AllShare  float64 `json:"all_share"`
	Ratio     float64 `json:"ratio"`   // 0 where no request has it
	P         float64 `json:"p"`       // adjusted for the number of flags
	PShift    float64 `json:"p_shift"` // by circular shift, not adjusted
}

// Attributes holds each flag against the tail. All must have one length.
func Attributes(tail []bool, flags []Flag) []Attribute {
	test := NewShiftTest(tail)
	table := make([]Attribute, len(flags))
	p := make([]float64, len(flags))
	for i, flag := range flags {
		inTail, inAll := 0, 0
		for j, has := range flag.Has {
			if has {
				inAll++
				if tail[j] {
					inTail++
				}
			}
		}
		a := Attribute{
			Name:      flag.Name,
			TailShare: share(inTail, len(test.tail)),
			AllShare:  share(inAll, len(tail)),
			PShift:    test.P(flag.Has),
		}
		if inAll > 0 {
			a.Ratio = a.TailShare / a.AllShare
		}
		table[i], p[i] = a, a.PShift
	}
	for i, adjusted := range Adjust(p) {
		table[i].P = adjusted
	}
	return table
}

// share is part of whole, 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
