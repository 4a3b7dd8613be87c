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
	"maps"
	"math"
	"slices"
	"strconv"
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
	return diff("", a, b), nil
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

func diff(path string, claimed, fresh any) *Difference {
	here := &Difference{path, claimed, fresh}
	switch fresh := fresh.(type) {
	case map[string]any:
		claim, ok := claimed.(map[string]any)
		if !ok {
			return here
		}
		for _, key := range slices.Sorted(maps.Keys(fresh)) {
			inner := key
			if path != "" {
				inner = path + "." + key
			}
			if d := diff(inner, claim[key], fresh[key]); d != nil {
				return d
			}
		}
	case []any:
		claim, ok := claimed.([]any)
		if !ok {
			return here
		}
		for i := range min(len(claim), len(fresh)) {
			if d := diff(path+"["+strconv.Itoa(i)+"]", claim[i], fresh[i]); d != nil {
				return d
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
