package rows

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// known fields, in the order in which a missing one is named.
var fields = []string{"id", "send_ns", "recv_ns", "intended_ns", "status", "error", "timeout", "timeout_ns", "warmup", "run"}

// readNpz reads an archive of NumPy arrays, one a field, all of one length.
func readNpz(name string, r io.ReaderAt, size int64) (*Set, error) {
	z := npzReader{builder: newBuilder(name), arrays: map[string]*array{}}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &LineError{File: name, Reason: "not a complete .npz archive: " + err.Error(), Hint: "was the file cut short?"}
	}
	for _, f := range archive.File {
		if err := z.open(f); err != nil {
			return nil, &LineError{File: name, Reason: fmt.Sprintf("array %s: %v", f.Name, err), Hint: formatHint}
		}
	}
	if err := z.check(); err != nil {
		return nil, err
	}
	for i := range z.n {
		z.addRow(i)
	}
	return z.finish()
}

type npzReader struct {
	*builder
	arrays map[string]*array
	extras []string // names of arrays beyond the known fields
	n      int
}

// open reads one array. Only a known field must be readable.
func (z *npzReader) open(f *zip.File) error {
	field := strings.TrimSuffix(f.Name, ".npy")
	known := slices.Contains(fields, field)
	body, err := f.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	a, err := readNpy(body)
	switch {
	case err != nil && known:
		return err
	case err != nil:
		z.warn("array %q is not kept: %v", field, err)
		return nil
	case !known:
		z.extras = append(z.extras, field)
	}
	z.arrays[field] = a
	return nil
}

// check demands the needed fields, and one length.
func (z *npzReader) check() error {
	refuse := func(format string, args ...any) error {
		return &LineError{File: z.set.Name, Reason: fmt.Sprintf(format, args...), Hint: formatHint}
	}
	for _, field := range []string{"send_ns", "recv_ns"} {
		a := z.arrays[field]
		switch {
		case a == nil:
			return refuse("there is no array %s; there are: %s", field, strings.Join(z.names(), ", "))
		case a.isText() || len(a.shape) != 1:
			return refuse("array %s is not one number a row", field)
		}
	}
	z.n = z.arrays["send_ns"].shape[0]
	for _, field := range fields {
		a := z.arrays[field]
		switch {
		case a == nil || len(a.shape) == 0: // a single value holds for every row
		case a.shape[0] != z.n:
			return refuse("array %s has %d values but send_ns has %d", field, a.shape[0], z.n)
		case len(a.shape) == 2 && !(field == "id" && a.kind == 'u' && a.size == 1 && a.shape[1] == 16):
			return refuse("array %s has %d values a row", field, a.shape[1])
		}
	}
	z.extras = slices.DeleteFunc(z.extras, func(field string) bool {
		a := z.arrays[field]
		odd := len(a.shape) == 0 || a.shape[0] != z.n
		if odd {
			z.warn("array %q is not kept: it does not have one value a row", field)
		}
		return odd
	})
	return nil
}

func (z *npzReader) names() []string {
	names := slices.Collect(func(yield func(string) bool) {
		for field := range z.arrays {
			if !yield(strconv.Quote(field)) {
				return
			}
		}
	})
	slices.Sort(names)
	return names
}

// get finds the array of a field and the index that row i has in it.
func (z *npzReader) get(field string, i int) (*array, int, bool) {
	a := z.arrays[field]
	if a == nil {
		return nil, 0, false
	}
	if len(a.shape) == 0 {
		i = 0
	}
	return a, i, true
}

func (z *npzReader) addRow(i int) {
	row := Row{Line: i + 1}
	var st stamps
	problem := z.id(i, &row)
	var ok bool
	if st.send, ok = z.stamp("send_ns", i); !ok {
		problem = "send_ns is not a time"
	}
	st.recv, ok = z.stamp("recv_ns", i)
	st.noRecv = !ok
	st.intended, row.HasIntended = z.stamp("intended_ns", i)
	if status, ok := z.stamp("status", i); ok {
		row.Status = int(status.whole)
	}
	if limit, ok := z.stamp("timeout_ns", i); ok {
		row.TimeoutNs = max(0, limit.whole)
	}
	row.Timeout = z.flag("timeout", i)
	row.Warmup = z.flag("warmup", i)
	row.Run = z.text("run", i)
	row.setError(z.text("error", i))
	z.setExtras(i)
	z.add(row, st, problem)
}

func (z *npzReader) id(i int, row *Row) (problem string) {
	a, at, ok := z.get("id", i)
	if !ok {
		return ""
	}
	row.HasID, row.Label = true, z.text("id", i)
	switch {
	case a.isText():
		row.ID = TextID(row.Label)
	case len(a.shape) == 2:
		row.ID.Raw = true
		copy(row.ID.Bytes[:], a.data[at*16:])
		row.Label = fmt.Sprintf("%x", row.ID.Bytes)
	case a.kind == 'f':
		var err error
		if row.ID, err = floatID(a.float(at)); err != nil {
			return err.Error()
		}
	default:
		row.ID = NumberID(a.bits(at))
		if n, ok := a.integer(at); ok && n < 0 {
			row.ID = TextID(row.Label)
		}
	}
	return ""
}

// stamp is a field's value for row i as a number; ok is false where it has none.
func (z *npzReader) stamp(field string, i int) (s stamp, ok bool) {
	a, at, ok := z.get(field, i)
	if !ok {
		return stamp{}, false
	}
	return a.stamp(at)
}

// flag is true or 1.
func (z *npzReader) flag(field string, i int) bool {
	s, ok := z.stamp(field, i)
	return ok && s == stamp{whole: 1}
}

// text is a field's value for row i in words; "" where there is none.
func (z *npzReader) text(field string, i int) string {
	a, at, ok := z.get(field, i)
	switch {
	case !ok:
		return ""
	case a.isText():
		return a.text(at)
	case a.kind == 'u':
		return strconv.FormatUint(a.bits(at), 10)
	case a.kind == 'i':
		n, _ := a.integer(at)
		return strconv.FormatInt(n, 10)
	}
	return strconv.FormatFloat(a.float(at), 'f', -1, 64)
}

// stamp is an element as a time.
func (a *array) stamp(i int) (stamp, bool) {
	if a.isText() {
		return parseStamp([]byte(a.text(i)))
	}
	if a.kind == 'f' {
		return floatStamp(a.float(i))
	}
	n, ok := a.integer(i)
	return stamp{whole: n}, ok
}

// setExtras keeps the arrays beyond the known fields; the columns of one with
// several values a row get names like "steps.0".
func (z *npzReader) setExtras(i int) {
	for _, field := range z.extras {
		a, width := z.arrays[field], 1
		if len(a.shape) == 2 {
			width = min(a.shape[1], maxColumns+1)
		}
		for k := range width {
			name, at := field, i
			if len(a.shape) == 2 {
				name, at = field+"."+strconv.Itoa(k), i*a.shape[1]+k
			}
			if a.isText() {
				z.setText(name, []byte(a.text(at)))
			} else {
				z.setNumber(name, a.float(at), a.kind == 'b')
			}
		}
	}
}
