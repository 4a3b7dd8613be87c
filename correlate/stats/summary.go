package stats

// Schema names the form of a Summary in JSON.
const Schema = "tailtrace.stats/1"

// Summary is all that is said of a set of rows. Durations are ns; where there
// are several runs, counts and percentiles are of all rows together and Runs
// and AcrossRuns tell how far they can be trusted.
type Summary struct {
	Schema      string `json:"schema"`
	N           int    `json:"n"`        // rows that count
	Errors      int    `json:"errors"`   // of them failed, timeouts included
	Timeouts    int    `json:"timeouts"` // of them timed out
	Warmup      int    `json:"warmup"`   // not in N
	Quarantined int    `json:"quarantined"`

	Percentiles Percentiles         `json:"percentiles_ns"`
	Labels      map[string][]string `json:"labels"`
	Intervals   map[string]Bounds   `json:"intervals_ns"`

	Tail            TailSummary `json:"tail"`
	NextInTail      float64     `json:"next_in_tail"`
	NextByChance    float64     `json:"next_by_chance"`
	Autocorrelation float64     `json:"autocorrelation"` // lag 1, of the latencies
	Dispersion      float64     `json:"dispersion"`      // of tail requests over seconds

	Seconds   []Second `json:"seconds"`
	Bursts    []Burst  `json:"bursts"`
	Period    *Period  `json:"period"`
	Load      Load     `json:"load"`
	Signature string   `json:"signature"`

	ClosedLoop bool       `json:"closed_loop"`
	Corrected  *Corrected `json:"corrected,omitempty"`
	Pages      []Page     `json:"pages"`

	Runs       []RunSummary      `json:"runs"`
	AcrossRuns map[string]Spread `json:"across_runs,omitempty"`

	Attributes []Attribute `json:"attributes"`
	Steps      []StepRow   `json:"steps"`
	Warnings   []string    `json:"warnings"`
}

// TailSummary is the size of the tail; Threshold is the smallest latency in it.
type TailSummary struct {
	Fraction  float64 `json:"fraction"`
	Count     int     `json:"count"`
	Threshold int64   `json:"threshold_ns"`
}

// RunSummary is one run on its own. Intervals are exact for independent
// requests; Blocks, by a block bootstrap, allow for bursts.
type RunSummary struct {
	Run         string              `json:"run"`
	N           int                 `json:"n"`
	Percentiles Percentiles         `json:"percentiles_ns"`
	Labels      map[string][]string `json:"labels"`
	Intervals   map[string]Bounds   `json:"intervals_ns"`
	Block       int                 `json:"block,omitempty"` // neighbours in a block of the bootstrap
	Blocks      map[string]Bounds   `json:"block_bootstrap_ns,omitempty"`
}
