package rows

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func named(file string, runs ...string) *Set {
	s := &Set{Name: file}
	for _, run := range runs {
		s.Rows = append(s.Rows, Row{Run: run})
	}
	return s
}

func TestRunsOfSeveralFilesAreToldApart(t *testing.T) {
	sets := []*Set{named("raw/a.jsonl", "", "", "r2"), named(`raw\b.npz`, "r2", "r3"), named("other/a.jsonl", "r2")}
	TellRunsApart(sets)
	var got []string
	for _, s := range sets {
		for _, r := range s.Rows {
			got = append(got, r.Run)
		}
	}
	if diff := cmp.Diff([]string{"a", "a", "a:r2", "b:r2", "r3", "a:r2'"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunsOfOneFileKeepTheirNames(t *testing.T) {
	s := named("a.jsonl", "", "r1")
	TellRunsApart([]*Set{s})
	if s.Rows[0].Run != "" || s.Rows[1].Run != "r1" {
		t.Errorf("%q, %q", s.Rows[0].Run, s.Rows[1].Run)
	}
}
