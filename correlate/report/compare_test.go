package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// rounds has the given values, us, as p50 and as all other percentiles.
func rounds(p50, tail []int64, verdicts ...map[string]float64) (list []Round) {
	for i := range p50 {
		t := tail[i] * 1000
		r := Round{File: "f", SHA256: string(rune('a' + p50[i]%20)), Run: "r", N: 1000, Fraction: .01,
			Percentiles: stats.Percentiles{P50: p50[i] * 1000, P90: t, P99: t, P999: t, Max: t}, Labels: stats.Labels(1000)}
		if i < len(verdicts) {
			r.Verdicts = verdicts[i]
		}
		list = append(list, r)
	}
	return list
}

func compareText(t *testing.T, base, arm []Round) (*Compare, string) {
	t.Helper()
	c, err := NewCompare(base, arm)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Text(&out); err != nil {
		t.Fatal(err)
	}
	return c, out.String()
}

func TestCompareTextSaysWhatCannotBeToldApart(t *testing.T) {
	_, text := compareText(t, rounds([]int64{900, 901, 902}, []int64{7000, 7001, 7002}), rounds([]int64{901, 900, 903}, []int64{2000, 2001, 2002}))
	for line := range strings.Lines(text) {
		apart := strings.HasSuffix(line, "  told apart\n")
		switch {
		case strings.HasPrefix(line, "  p50"):
			if !strings.Contains(line, "cannot be told apart from run-to-run noise") {
				t.Errorf("%q", line)
			}
		case strings.HasPrefix(line, "  p"), strings.HasPrefix(line, "  max"):
			if !apart {
				t.Errorf("%q", line)
			}
		}
	}
	if strings.Contains(text, "not the tail alone") {
		t.Error(text)
	}
}

func TestCompareHoldsVerdictsSideBySide(t *testing.T) {
	base := rounds([]int64{900, 901}, []int64{7000, 7001}, map[string]float64{"preempted": .8, "mixed": .2}, map[string]float64{"preempted": .9, "mixed": .1})
	arm := rounds([]int64{902, 903}, []int64{7000, 7001}, map[string]float64{"mixed": .15, "lock": .85}, map[string]float64{"mixed": 1})
	c, text := compareText(t, base, arm)
	want := []VerdictDifference{
		{"preempted", []float64{.8, .9}, []float64{0, 0}, -.9, true},
		{"mixed", []float64{.2, .1}, []float64{.15, 1}, -.05, false},
		{"lock", []float64{0, 0}, []float64{.85, 0}, 0, false},
		{"unexplained", []float64{0, 0}, []float64{0, 0}, 0, false},
	}
	if diff := cmp.Diff(want, c.Verdicts, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(text, "80.0% to 90.0%") || !strings.Contains(text, "points") {
		t.Error(text)
	}
	arm[1].Fraction = .001
	if c, _ := compareText(t, base, arm); c.Verdicts != nil || !strings.Contains(strings.Join(c.Notes, "\n"), "tails are of different shares") {
		t.Errorf("%+v", c)
	}
	arm[1].Verdicts = nil
	if c, _ := compareText(t, base, arm); c.Verdicts != nil || !strings.Contains(strings.Join(c.Notes, "\n"), "only 3 of 4 runs have verdicts") {
		t.Errorf("%+v", c)
	}
}

func TestCompareNoticesARunAgainstItself(t *testing.T) {
	same := rounds([]int64{900}, []int64{7000})
	c, _ := compareText(t, same, same)
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "in 1 of 1 rounds base and arm are the same run of the same file") || !strings.Contains(notes, "one round cannot be told from noise") {
		t.Error(notes)
	}
}
