// Package rows reads what a load generator wrote down about each request: the
// client's side of a latency measurement, one row a request.
//
// Rows are kept raw. What cannot be true (a negative latency, a stamp that is
// not a number) is quarantined with its line and counted, never dropped in
// silence and never repaired. Times are nanoseconds once a Set has been read;
// which clock and unit the file used is detected and said in Set.Warnings.
package rows

import "github.com/tailtrace/tailtrace/collector/eventfile"

// Row is one request as its client saw it.
type Row struct {
	ID    eventfile.ID
	HasID bool
	Label string // the id as the file has it

	Send, Recv  int64 // ns on the Set's clock
	Intended    int64 // when the schedule wanted it sent; meaningless without HasIntended
	HasIntended bool

	Status    int    // HTTP status; 0 where the file has none
	Error     string // "" for none
	Timeout   bool   // the client gave up
	TimeoutNs int64  // the client's limit for this request, ns; 0 = not given
	Warmup    bool
	Run       string
	Line      int // 1-based line, or index + 1 in an array file

	index int32 // into the Set's columns
}

// Failed reports whether the request got no good answer: an error, a timeout
// or a status of 400 and above.
func (r *Row) Failed() bool { return r.Timeout || r.Error != "" || r.Status >= 400 }

// Latency is Recv - Send in ns, or Recv - Intended where the schedule is known,
// so that a stall also counts against the requests it kept from being sent. A
// failed row counts with at least its timeout: failing fast is not being fast.
func (r *Row) Latency() int64 {
	from := r.Send
	if r.HasIntended {
		from = r.Intended
	}
	latency := r.Recv - from
	if r.Failed() {
		latency = max(latency, r.TimeoutNs)
	}
	return latency
}

// Set is one file of rows, by run in order of first appearance and within a
// run by Send.
type Set struct {
	Name        string
	Rows        []Row
	Columns     []*Column // fields beyond those of Row, in order of appearance
	Clock       Clock
	Steps       []Step // where the file's clock stepped back
	Warnings    []string
	Quarantined []Bad // by Line
}

// Bad is a row that was set aside.
type Bad struct {
	Line   int
	Reason string
}

// Runs lists the distinct runs in order; rows without a run have the name "".
func (s *Set) Runs() []string {
	var runs []string
	for i := range s.Rows {
		if i == 0 || s.Rows[i].Run != s.Rows[i-1].Run {
			runs = append(runs, s.Rows[i].Run)
		}
	}
	return runs
}

// Column returns the column of that name, or nil.
func (s *Set) Column(name string) *Column {
	for _, c := range s.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}
