package rows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxArray bounds one array, which a small compressed file can claim to be huge.
const maxArray = 1 << 30

// array is one NumPy array of a simple type. The reader is our own because
// npyio trusts shapes and offsets in the header, fills up a truncated array
// with its last value, and decodes NumPy's UCS-4 text as UTF-8.
type array struct {
	kind  byte // b, i, u, f, S, U
	size  int  // bytes an element
	shape []int
	order binary.ByteOrder
	data  []byte
}

var (
	npyDescr   = regexp.MustCompile(`'descr': *'([<>|=]?)([a-zA-Z])([0-9]*)(\[[^']*\])?'`)
	npyFortran = regexp.MustCompile(`'fortran_order': *True`)
	npyShape   = regexp.MustCompile(`'shape': *\(([0-9, L]*)\)`)
)

// readNpy reads an array in NumPy's format, versions 1 to 3.
func readNpy(r io.Reader) (*array, error) {
	header, err := npyHeader(r)
	if err != nil {
		return nil, err
	}
	a, err := newArray(header)
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	want := a.size
	for _, n := range a.shape {
		if n > maxArray/max(want, 1) {
			return nil, fmt.Errorf("shape %v is larger than %d bytes", a.shape, maxArray)
		}
		want *= n
	}
	if _, err := io.CopyN(&data, r, int64(want)); err != nil {
		return nil, fmt.Errorf("read %d bytes of elements: %w", want, noEOF(err))
	}
	a.data = data.Bytes()
	return a, nil
}

func npyHeader(r io.Reader) ([]byte, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:8]); err != nil {
		return nil, fmt.Errorf("read array header: %w", noEOF(err))
	}
	if string(fixed[:6]) != "\x93NUMPY" {
		return nil, errors.New("not a NumPy array")
	}
	lengthBytes := 4
	if fixed[6] == 1 {
		lengthBytes = 2
	}
	if _, err := io.ReadFull(r, fixed[8:8+lengthBytes]); err != nil {
		return nil, fmt.Errorf("read array header: %w", noEOF(err))
	}
	length := binary.LittleEndian.Uint32(fixed[8:])
	if fixed[6] < 1 || fixed[6] > 3 || length > 1<<20 {
		return nil, fmt.Errorf("unknown version %d or header of %d bytes", fixed[6], length)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("read array header: %w", noEOF(err))
	}
	return header, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func newArray(header []byte) (*array, error) {
	descr, shape := npyDescr.FindSubmatch(header), npyShape.FindSubmatch(header)
	if descr == nil || shape == nil {
		return nil, fmt.Errorf("array of a type that is not supported: %.60q", header)
	}
	a := &array{kind: descr[2][0], order: binary.LittleEndian}
	if string(descr[1]) == ">" {
		a.order = binary.BigEndian
	}
	a.size, _ = strconv.Atoi(string(descr[3]))
	switch {
	case a.kind == 'M' || a.kind == 'm': // datetime64, timedelta64
		a.kind = 'i'
	case a.kind == 'a':
		a.kind = 'S'
	case a.kind == 'U':
		a.size *= 4
	case a.kind == 'O':
		return nil, errors.New("an array of Python objects: save text with astype(str)")
	}
	if !a.known() {
		return nil, fmt.Errorf("elements of type %s%s are not supported", descr[2], descr[3])
	}
	for text := range strings.SplitSeq(string(shape[1]), ",") {
		text = strings.Trim(text, " L")
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("parse shape: %w", err)
		}
		a.shape = append(a.shape, n)
	}
	if len(a.shape) > 2 || len(a.shape) == 2 && npyFortran.Match(header) {
		return nil, fmt.Errorf("shape %v: one value a row is needed", a.shape)
	}
	return a, nil
}

// known reports whether number or text can read the elements.
func (a *array) known() bool {
	switch a.kind {
	case 'S', 'U':
		return a.size >= 0 && a.size <= 1<<16
	case 'b':
		return a.size == 1
	case 'f':
		return a.size == 4 || a.size == 8
	case 'i', 'u':
		return a.size == 1 || a.size == 2 || a.size == 4 || a.size == 8
	}
	return false
}

func (a *array) isText() bool { return a.kind == 'S' || a.kind == 'U' }

func (a *array) at(i int) []byte { return a.data[i*a.size : (i+1)*a.size] }

// bits is the element's bytes as an unsigned number.
func (a *array) bits(i int) uint64 {
	switch b := a.at(i); a.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(a.order.Uint16(b))
	case 4:
		return uint64(a.order.Uint32(b))
	default:
		return a.order.Uint64(b)
	}
}

// integer is the element of an i, u or b array; ok is false beyond int64.
func (a *array) integer(i int) (n int64, ok bool) {
	bits := a.bits(i)
	if a.kind == 'i' {
		shift := 64 - 8*a.size
		return int64(bits<<shift) >> shift, true
	}
	return int64(bits), bits <= math.MaxInt64
}

// float is the element of any array of numbers.
func (a *array) float(i int) float64 {
	if a.kind != 'f' {
		n, ok := a.integer(i)
		if !ok {
			return float64(a.bits(i))
		}
		return float64(n)
	}
	if a.size == 4 {
		return float64(math.Float32frombits(uint32(a.bits(i))))
	}
	return math.Float64frombits(a.bits(i))
}

// text is the element of an S or U array without its padding.
func (a *array) text(i int) string {
	b := a.at(i)
	if a.kind == 'S' {
		return string(bytes.TrimRight(b, "\x00"))
	}
	var out strings.Builder
	for ; len(b) >= 4; b = b[4:] {
		out.WriteRune(rune(a.order.Uint32(b)))
	}
	return strings.TrimRight(out.String(), "\x00")
}
