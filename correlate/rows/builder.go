package rows

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// longest is the longest latency that is believed without a timeout_ns that
// allows for more. Beyond it the wall clock stepped inside the request.
const longest = int64(time.Hour)

// stamps are a row's times before their unit is known.
type stamps struct {
	send, recv, intended stamp
	noRecv               bool // there was no answer
}

// builder collects the rows of one file; every reader fills one.
type builder struct {
	set    *Set
	rows   []Row
	stamps []stamps // parallel to rows
	runs   map[string]string
	index  int32
	noted  map[string]bool
}

func newBuilder(name string) *builder {
	return &builder{set: &Set{Name: name}, runs: map[string]string{}, noted: map[string]bool{}}
}

func (b *builder) warn(format string, args ...any) {
	b.set.Warnings = append(b.set.Warnings, fmt.Sprintf(format, args...))
}

// warnOnce warns once about what could repeat for every row.
func (b *builder) warnOnce(key, format string, args ...any) {
	if !b.noted[key] {
		b.noted[key] = true
		b.warn(format, args...)
	}
}

func (b *builder) quarantine(line int, reason string) {
	b.set.Quarantined = append(b.set.Quarantined, Bad{line, reason})
}

// add takes a row whose extra fields were set before; with a problem it is
// quarantined.
func (b *builder) add(row Row, st stamps, problem string) {
	b.index++
	if st.noRecv {
		row.Timeout = true
		if row.TimeoutNs == 0 && problem == "" {
			problem = "no recv_ns, and no timeout_ns to count it with"
		}
	}
	if problem != "" {
		b.quarantine(row.Line, problem)
		return
	}
	run, ok := b.runs[row.Run]
	if !ok {
		run = strings.Clone(row.Run)
		b.runs[run] = run
	}
	row.Run, row.index = run, b.index-1
	b.rows, b.stamps = append(b.rows, row), append(b.stamps, st)
}

// setNumber sets an extra field of the next row to be added.
func (b *builder) setNumber(name string, value float64, truth bool) {
	if c := b.column(name); c != nil {
		c.setNumber(b.index, value, truth)
	}
}

// setText is setNumber for text.
func (b *builder) setText(name string, value []byte) {
	if c := b.column(name); c != nil {
		c.setText(b.index, value)
	}
}

// column finds or makes a column; nil where there are too many.
func (b *builder) column(name string) *Column {
	if c := b.set.Column(name); c != nil {
		return c
	}
	if len(b.set.Columns) == maxColumns {
		b.warnOnce("columns", "more than %d extra fields: %q and others are not kept", maxColumns, name)
		return nil
	}
	c := &Column{Name: strings.Clone(name)}
	b.set.Columns = append(b.set.Columns, c)
	return c
}

// apply writes the stamps into row as ns; a reason means that they cannot be.
func (st *stamps) apply(row *Row, unit int64) (reason string) {
	var fits [3]bool
	row.Send, fits[0] = st.send.scale(unit)
	row.Recv, fits[1] = st.recv.scale(unit)
	row.Intended, fits[2] = st.intended.scale(unit)
	if st.noRecv {
		row.Recv = row.Send + row.TimeoutNs
	}
	from := row.Send
	if row.HasIntended {
		from = row.Intended
	}
	switch {
	case fits != [3]bool{true, true, true}:
		return "a stamp is out of range"
	case row.Recv < row.Send:
		return fmt.Sprintf("negative latency: recv is %v before send", time.Duration(row.Send-row.Recv))
	case row.Recv < from:
		return fmt.Sprintf("negative latency: recv is %v before intended", time.Duration(from-row.Recv))
	case row.Recv-from < 0 || row.Recv-from > max(longest, 2*row.TimeoutNs):
		return fmt.Sprintf("latency of %v: the clock stepped inside it", time.Duration(row.Recv-from))
	}
	return ""
}

// finish turns what was collected into a Set.
func (b *builder) finish() (*Set, error) {
	s := b.set
	total := len(b.rows) + len(s.Quarantined)
	if total == 0 {
		return nil, &LineError{File: s.Name, Reason: "there are no rows in it", Hint: formatHint}
	}
	b.convert()
	slices.SortStableFunc(s.Quarantined, func(a, b Bad) int { return a.Line - b.Line })
	if len(b.rows) == 0 {
		first := s.Quarantined[0]
		return nil, &LineError{File: s.Name, Line: first.Line,
			Reason: fmt.Sprintf("none of the %d rows can be used; this one: %s", total, first.Reason), Hint: formatHint}
	}
	if n := len(s.Quarantined); n > 0 {
		b.warn("%d of %d rows were set aside, the first at line %d: %s", n, total, s.Quarantined[0].Line, s.Quarantined[0].Reason)
	}
	s.Rows = b.rows
	b.order()
	b.reportIDs()
	return s, nil
}

// reportIDs warns of rows without an id and of ids that repeat within a run.
func (b *builder) reportIDs() {
	type key struct {
		run string
		id  [16]byte
		raw bool
	}
	rows := b.set.Rows
	seen := make(map[key]struct{}, len(rows))
	missing, repeated, example := 0, 0, ""
	for i := range rows {
		r := &rows[i]
		if !r.HasID {
			missing++
			continue
		}
		k := key{r.Run, r.ID.Bytes, r.ID.Raw}
		if _, ok := seen[k]; ok {
			repeated++
			if example == "" {
				example = fmt.Sprintf("id %s at line %d", r.Label, r.Line)
			}
		}
		seen[k] = struct{}{}
	}
	if missing > 0 {
		b.warn("%d of %d rows have no id: they can be joined by time only", missing, len(rows))
	}
	if repeated > 0 {
		b.warn("%d rows repeat the id of another row (%s); all are kept", repeated, example)
	}
}
