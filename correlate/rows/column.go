package rows

import (
	"math"
	"strconv"
)

// maxColumns bounds what a wide or hostile file can make a Set hold.
const maxColumns = 64

// Column is a field beyond the known ones, with a value for some of the rows.
// Numbers and truth values are kept as numbers, text by a dictionary.
type Column struct {
	Name string
	Bool bool // every value is true (1) or false (0)

	numbers []float64 // NaN: none
	texts   []int32   // index + 1 into dict; 0: none
	dict    []string
	lookup  map[string]int32
}

// Number is the row's value; ok is false where it has none or it is text.
func (c *Column) Number(r *Row) (value float64, ok bool) {
	if int(r.index) >= len(c.numbers) {
		return 0, false
	}
	value = c.numbers[r.index]
	return value, !math.IsNaN(value)
}

// Text is the row's value as text; ok is false where it has none.
func (c *Column) Text(r *Row) (value string, ok bool) {
	if int(r.index) < len(c.texts) && c.texts[r.index] > 0 {
		return c.dict[c.texts[r.index]-1], true
	}
	n, ok := c.Number(r)
	switch {
	case !ok:
		return "", false
	case c.Bool:
		return strconv.FormatBool(n != 0), true
	}
	return strconv.FormatFloat(n, 'f', -1, 64), true
}

// Numeric reports whether the column holds numbers and no text.
func (c *Column) Numeric() bool { return len(c.dict) == 0 && len(c.numbers) > 0 }

func (c *Column) setNumber(index int32, value float64, truth bool) {
	if len(c.numbers) == 0 && len(c.dict) == 0 {
		c.Bool = truth
	}
	c.Bool = c.Bool && truth
	for len(c.numbers) <= int(index) {
		c.numbers = append(c.numbers, math.NaN())
	}
	c.numbers[index] = value
}

func (c *Column) setText(index int32, value []byte) {
	c.Bool = false
	at, ok := c.lookup[string(value)]
	if !ok {
		if c.lookup == nil {
			c.lookup = map[string]int32{}
		}
		c.dict = append(c.dict, string(value))
		at = int32(len(c.dict))
		c.lookup[c.dict[at-1]] = at
	}
	for len(c.texts) <= int(index) {
		c.texts = append(c.texts, 0)
	}
	c.texts[index] = at
}
