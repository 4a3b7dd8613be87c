package stats

// A Flag is an attribute that each request has or has not, in the order of
// sending.
type Flag struct {
	Name string
	Has  []bool
}

// Attribute tells how common a Flag is in the tail and in all requests. P is
// the number to go by; PFisher and Odds take requests as independent and are
// there to be compared with other tools.
type Attribute struct {
	Name      string  `json:"name"`
	TailShare float64 `json:"tail_share"`
	AllShare  float64 `json:"all_share"`
	Ratio     float64 `json:"ratio"`   // 0 where no request has it
	P         float64 `json:"p"`       // adjusted for the number of flags
	PShift    float64 `json:"p_shift"` // by circular shift, not adjusted
	PFisher   float64 `json:"p_fisher"`
	Odds      *Odds   `json:"odds_ratio"` // nil where a cell of the table is empty
}

// Odds is an odds ratio with its 95% interval.
type Odds struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Attributes holds each flag against the tail. All must have one length.
func Attributes(tail []bool, flags []Flag) []Attribute {
	test := NewShiftTest(tail)
	table := make([]Attribute, len(flags))
	p := make([]float64, len(flags))
	for i, flag := range flags {
		counts := TableOf(tail, flag.Has)
		a := Attribute{
			Name:      flag.Name,
			TailShare: share(counts.TailWith, len(test.tail)),
			AllShare:  share(counts.TailWith+counts.RestWith, len(tail)),
			PShift:    test.P(flag.Has),
			Odds:      counts.OddsRatio(),
		}
		a.PFisher, _ = counts.Fisher()
		if a.AllShare > 0 {
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
