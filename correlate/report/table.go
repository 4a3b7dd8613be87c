package report

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// Field is one value of a request; nil where it has none.
type Field struct {
	Name  string
	Value any
}

// Table is a line of fields for every request. All lines have the same names
// in the same order.
type Table iter.Seq[[]Field]

// RowTable has the rows, by run, with the latency that counts and whether it is
// in the tail. Read as rows it gives the same statistics.
func RowTable(s *rows.Set, tail []bool) Table {
	columns := columnNames([]*rows.Set{s})
	return func(yield func([]Field) bool) {
		for i := range s.Rows {
			line := append(rowFields(&s.Rows[i]), Field{"tail", tail[i]})
			if !yield(append(line, columnFields(s, &s.Rows[i], columns)...)) {
				return
			}
		}
	}
}

// RequestTable has the requests of a recording, analyzed with Options.All: rows
// or, without them, windows, with verdict and parts.
func RequestTable(res *correlate.Result) Table {
	columns := columnNames(res.Sets)
	return func(yield func([]Field) bool) {
		i := 0
		for _, s := range res.Sets {
			for j := range s.Rows {
				r := res.Requests[i]
				i++
				line := append(rowFields(&s.Rows[j]), Field{"tail", r.Tail}, Field{"kind", r.Kind}, Field{"tid", int64(r.Tid())})
				line = append(line, Field{"verdict", res.Explain(r).Verdict})
				for p, ns := range r.Parts {
					line = append(line, Field{"parts_ns." + part.Part(p).String(), ns})
				}
				if !yield(append(line, columnFields(s, &s.Rows[j], columns)...)) {
					return
				}
			}
		}
	}
}

func rowFields(r *rows.Row) []Field {
	optional := func(has bool, v any) any {
		if has {
			return v
		}
		return nil
	}
	return []Field{
		{"id", rowID(r)},
		{"run", optional(r.Run != "", r.Run)},
		{"send_ns", r.Send},
		{"recv_ns", r.Recv},
		{"intended_ns", optional(r.HasIntended, r.Intended)},
		{"latency_ns", r.Latency()},
		{"status", optional(r.Status != 0, int64(r.Status))},
		{"error", optional(r.Error != "", r.Error)},
		{"timeout", r.Timeout},
		{"timeout_ns", optional(r.TimeoutNs != 0, r.TimeoutNs)},
		{"warmup", r.Warmup},
	}
}

func rowID(r *rows.Row) any {
	switch {
	case !r.HasID:
		return nil
	case !r.ID.Raw:
		return binary.LittleEndian.Uint64(r.ID.Bytes[:8])
	case r.Label != "":
		return r.Label
	}
	return correlate.IDText(r.ID)
}

func columnNames(sets []*rows.Set) (names []string) {
	seen := map[string]bool{}
	for _, s := range sets {
		for _, c := range s.Columns {
			if !seen[c.Name] {
				seen[c.Name] = true
				names = append(names, c.Name)
			}
		}
	}
	return names
}

func columnFields(s *rows.Set, r *rows.Row, names []string) (fields []Field) {
	for _, name := range names {
		f := Field{Name: name}
		if c := s.Column(name); c != nil {
			if n, ok := c.Number(r); ok && c.Bool {
				f.Value = n != 0
			} else if ok {
				f.Value = n
			} else if text, ok := c.Text(r); ok {
				f.Value = text
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// JSONL writes an object a line, without the fields that have no value.
func (t Table) JSONL(w io.Writer) error {
	out := bufio.NewWriter(w)
	for line := range t {
		separator := "{"
		for _, f := range line {
			if f.Value == nil {
				continue
			}
			name, _ := json.Marshal(f.Name) // text always can be
			value, err := json.Marshal(f.Value)
			if err != nil {
				return fmt.Errorf("write %s: %w", f.Name, err)
			}
			out.WriteString(separator)
			out.Write(name)
			out.WriteString(": ")
			out.Write(value)
			separator = ", "
		}
		out.WriteString("}\n")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write JSONL: %w", err)
	}
	return nil
}

// CSV writes a line of names, then the values; nothing where there is none.
func (t Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	first := true
	for line := range t {
		record := make([]string, len(line))
		if first {
			for i, f := range line {
				record[i] = f.Name
			}
			out.Write(record) // an error stays until the end
			first = false
		}
		for i, f := range line {
			record[i] = cell(f.Value)
		}
		out.Write(record)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
