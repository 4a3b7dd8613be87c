// Package recheck computes statistics of rows a second time, by other ways than
// package stats and as plainly as can be: counting instead of sorting, whole
// numbers instead of floats, summed binomial terms instead of the incomplete
// beta function, every page and every shift one by one. What both ways agree
// on can be relied on, and a number that was changed afterwards is found.
package recheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Difference is the first place where a document says something else than what
// was recomputed. Either is nil where only the other has something.
type Difference struct {
	Path       string // "percentiles_ns.p99", "runs[2].n"
	Claimed    any
	Recomputed any
}

func (d *Difference) String() string {
	return fmt.Sprintf("%s: claimed %s, recomputed %s", d.Path, show(d.Claimed), show(d.Recomputed))
}

// IsDigest reports whether the difference is of a file, not of a number.
func (d *Difference) IsDigest() bool { return strings.HasSuffix(d.Path, ".sha256") }

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(text) > 80 {
		text = append(text[:80], "..."...)
	}
	return string(text)
}

// Diff compares what a JSON document claims with recomputed values, which may
// be anything that encoding/json can write. Fields of the claim that were not
// recomputed are passed over. Whole numbers must be equal, others to nine
// digits.
func Diff(claimed []byte, recomputed any) (*Difference, error) {
	return compare(claimed, recomputed, false)
}

// Exact is Diff for recomputed values that must be all there is: a field that
// only the claim has is a difference.
func Exact(claimed []byte, recomputed any) (*Difference, error) {
	return compare(claimed, recomputed, true)
}

func compare(claimed []byte, recomputed any, exact bool) (*Difference, error) {
	text, err := json.Marshal(recomputed)
	if err != nil {
		return nil, fmt.Errorf("compare statistics: %w", err)
	}
	a, err := decode(claimed)
	if err != nil {
		return nil, fmt.Errorf("compare statistics: the claim: %w", err)
	}
	b, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("compare statistics: %w", err)
	}
	return differ{exact}.diff("", a, b), nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

type differ struct{ exact bool }

func (d differ) diff(path string, claimed, fresh any) *Difference {
	here := &Difference{path, claimed, fresh}
	switch fresh := fresh.(type) {
	case map[string]any:
		claim, ok := claimed.(map[string]any)
		if !ok {
			return here
		}
		if first := d.diffMembers(path, claim, fresh); first != nil {
			return first
		}
	case []any:
		claim, ok := claimed.([]any)
		if !ok {
			return here
		}
		for i := range min(len(claim), len(fresh)) {
			if first := d.diff(path+"["+strconv.Itoa(i)+"]", claim[i], fresh[i]); first != nil {
				return first
			}
		}
		if len(claim) != len(fresh) {
			return &Difference{"number of " + path, len(claim), len(fresh)}
		}
	case json.Number:
		if claim, ok := claimed.(json.Number); !ok || !equal(claim, fresh) {
			return here
		}
	default:
		if claimed != fresh {
			return here
		}
	}
	return nil
}

// diffMembers goes by name. A member that is null is one that is not there.
func (d differ) diffMembers(path string, claim, fresh map[string]any) *Difference {
	names := slices.Collect(maps.Keys(fresh))
	if d.exact {
		names = slices.AppendSeq(names, maps.Keys(claim))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		inner := name
		if path != "" {
			inner = path + "." + name
		}
		if first := d.diff(inner, claim[name], fresh[name]); first != nil {
			return first
		}
	}
	return nil
}

func equal(a, b json.Number) bool {
	if a == b {
		return true
	}
	_, errA := a.Int64()
	_, errB := b.Int64()
	x, errX := a.Float64()
	y, errY := b.Float64()
	if errX != nil || errY != nil || errA == nil && errB == nil {
		return false
	}
	return math.Abs(x-y) <= 1e-9*max(1e-3, math.Abs(x), math.Abs(y))
}

// Numbers counts the numbers in a JSON document.
func Numbers(text []byte) (n int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("count numbers: %w", err)
		}
		if _, ok := token.(json.Number); ok {
			n++
		}
	}
}
