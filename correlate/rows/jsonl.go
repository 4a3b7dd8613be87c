package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const maxLine = 1 << 20

// readJSONL reads one JSON object a line. Blank lines are no rows.
func readJSONL(name string, r io.Reader, size int64) (*Set, error) {
	b := newBuilder(name)
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for lines.Scan() {
		number++
		line := lines.Bytes()
		if number == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := b.addJSON(number, line); err != nil {
			return nil, err
		}
		if b.index == 1 { // the lines of a file are of much the same length
			b.rows = slices.Grow(b.rows, int(min(size/int64(len(line)), 1<<18)))
			b.stamps = slices.Grow(b.stamps, cap(b.rows))
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, &LineError{name, number + 1, fmt.Sprintf("longer than %d bytes", maxLine), formatHint}
	} else if err != nil {
		return nil, fmt.Errorf("read rows %s: %w", name, err)
	}
	return b.finish()
}

// addJSON adds the row in line. Its error is a *LineError.
func (b *builder) addJSON(number int, line []byte) error {
	refuse := func(reason, hint string) error { return &LineError{b.set.Name, number, reason, hint} }
	if !json.Valid(line) {
		if line = withoutNaN(line); !json.Valid(line) {
			return refuse("not JSON: "+jsonProblem(line), formatHint)
		}
	}
	if line[0] != '{' {
		return refuse("not a JSON object", formatHint)
	}
	p := jsonRow{b: b, row: Row{Line: number}, stamps: stamps{noRecv: true}}
	eachField(line, p.field)
	if missing := p.missing(); len(missing) > 0 {
		return refuse("the row has no "+strings.Join(missing, ", ")+"; it has: "+fieldNames(line), formatHint)
	}
	b.add(p.row, p.stamps, p.problem)
	return nil
}

// jsonProblem says what is wrong with a line that is not valid JSON.
func jsonProblem(line []byte) string {
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		return err.Error()
	}
	return "unknown"
}

// fieldNames lists the members of a JSON object, for an error message.
func fieldNames(object []byte) string {
	var names []string
	eachField(object, func(name, _ []byte) {
		if len(names) < 20 {
			names = append(names, strconv.Quote(string(name)))
		}
	})
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// jsonRow is one row while its fields are read.
type jsonRow struct {
	b       *builder
	row     Row
	stamps  stamps
	send    bool   // present, whatever it holds
	recv    bool   // likewise
	problem string // why the row will be set aside
}

func (p *jsonRow) missing() (names []string) {
	if !p.send {
		names = append(names, "send_ns")
	}
	if !p.recv && !p.row.Failed() { // a failed request may have no answer
		names = append(names, "recv_ns")
	}
	if len(names) == 2 && !p.row.HasID {
		names = slices.Insert(names, 0, "id")
	}
	return names
}

func (p *jsonRow) field(name, value []byte) {
	switch string(name) {
	case "id":
		p.id(value)
	case "send_ns":
		p.send = true
		p.stamp(&p.stamps.send, "send_ns", value)
	case "recv_ns":
		p.recv = true
		if p.stamps.noRecv = string(value) == "null"; !p.stamps.noRecv {
			p.stamp(&p.stamps.recv, "recv_ns", value)
		}
	case "intended_ns":
		if string(value) != "null" {
			p.row.HasIntended = true
			p.stamp(&p.stamps.intended, "intended_ns", value)
		}
	case "timeout_ns":
		if limit, ok := parseStamp(unquote(value)); ok && limit.whole >= 0 {
			p.row.TimeoutNs = limit.whole
		}
	case "status":
		p.row.Status, _ = strconv.Atoi(string(unquote(value)))
	case "error":
		p.row.setError(string(unquote(value)))
	case "timeout":
		p.row.Timeout = p.row.Timeout || truth(value)
	case "warmup":
		p.row.Warmup = truth(value)
	case "run":
		if string(value) != "null" {
			p.row.Run = string(unquote(value))
		}
	default:
		p.extra(string(name), value, true)
	}
}

func (p *jsonRow) id(value []byte) {
	if string(value) == "null" {
		return
	}
	id, err := ParseID(value)
	if err != nil {
		p.problem = err.Error()
		return
	}
	p.row.ID, p.row.HasID, p.row.Label = id, true, string(unquote(value))
}

func (p *jsonRow) stamp(to *stamp, name string, value []byte) {
	var ok bool
	if *to, ok = parseStamp(unquote(value)); !ok {
		p.problem = fmt.Sprintf("%s is not a time: %.40s", name, value)
	}
}

// extra keeps an unknown field; the members of an object get names like
// "steps.read". Arrays and objects in objects are not kept.
func (p *jsonRow) extra(name string, value []byte, outer bool) {
	switch value[0] {
	case '{', '[':
		if outer && value[0] == '{' {
			eachField(value, func(inner, v []byte) { p.extra(name+"."+string(inner), v, false) })
			return
		}
		p.b.warnOnce("nested", "fields that hold an array, or an object in an object, are not kept: %q", name)
	case 'n': // null
	case '"':
		p.b.setText(name, unquote(value))
	case 't':
		p.b.setNumber(name, 1, true)
	case 'f':
		p.b.setNumber(name, 0, true)
	default:
		if n, err := strconv.ParseFloat(string(value), 64); err == nil {
			p.b.setNumber(name, n, false)
		}
	}
}

// setError takes an error in any of the ways clients write one: a text, a
// flag, a code.
func (r *Row) setError(text string) {
	switch text {
	case "null", "false", "", "0":
		r.Error = ""
	case "true":
		r.Error = "error"
	default:
		r.Error = text
	}
	lower := strings.ToLower(r.Error)
	for _, sign := range []string{"timeout", "timed out", "timed_out", "deadline exceeded"} {
		r.Timeout = r.Timeout || strings.Contains(lower, sign)
	}
}
