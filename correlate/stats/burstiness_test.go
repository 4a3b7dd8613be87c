package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNextInTail(t *testing.T) {
	flags := func(text string) []bool {
		out := make([]bool, len(text))
		for i := range text {
			out[i] = text[i] == 'x'
		}
		return out
	}
	for _, tc := range []struct {
		runs             []string
		observed, chance float64
	}{
		{[]string{"..xx....x."}, 1. / 3, 2. / 9},
		{[]string{"xx"}, 1, 1},
		{[]string{".....x"}, 0, 0},
		{[]string{"...."}, 0, 0},
		{[]string{".x", "x."}, 0, 0}, // the runs are not neighbours
		{[]string{"xx..", "x.x...."}, 1. / 4, (2*1./3 + 2*1./6) / 4},
	} {
		var runs [][]bool
		for _, text := range tc.runs {
			runs = append(runs, flags(text))
		}
		observed, chance := NextInTail(runs...)
		near(t, "observed", observed, tc.observed, 1e-12)
		near(t, "chance", chance, tc.chance, 1e-12)
	}
	tail := make([]bool, 100_000)
	for i := range 1000 {
		tail[i*100] = true
	}
	_, chance := NextInTail(tail)
	near(t, "chance of 1000 in 100,000", chance, .00999, 5e-7)
}

func TestSecondsListSilenceToo(t *testing.T) {
	got := Seconds("r", []int64{0, 999_999_999, 1e9, 3e9 + 1}, []bool{false, true, true, false})
	want := []Second{{"r", 0, 2, 1}, {"r", 1, 1, 1}, {"r", 2, 0, 0}, {"r", 3, 1, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Seconds("", []int64{1 << 62}, []bool{false}); got != nil {
		t.Errorf("%d seconds, want none", len(got))
	}
}
