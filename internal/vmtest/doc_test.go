package vmtest_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

const document = "../../docs/KERNELS.md"

// docs/KERNELS.md is made from what check said in each guest.
func TestDocumentSaysWhatTheGuestsSaid(t *testing.T) {
	want := renderDocument(t)
	if *update {
		if err := os.WriteFile(document, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/KERNELS.md is out of date; go test ./internal/vmtest -run Document -update (-want +got):\n%s", diff)
	}
}

// row is a line of a table, with a cell for each kernel.
type row struct {
	Name  string
	Cells []string
}

func renderDocument(t *testing.T) []byte {
	t.Helper()
	kernels := vmtest.Kernels()
	data := struct {
		Kernels []vmtest.Kernel
		Series  string
		Rows    []row
		Absent  []string
		Facts   []row
	}{Kernels: kernels}
	var series []string
	hooks, facts, absent := newTable(len(kernels)), newTable(len(kernels)), newTable(len(kernels))
	for i, k := range kernels {
		series = append(series, k.Series)
		c := known(t, k)
		for _, h := range c.Hooks {
			if h.How != "" {
				hooks.set(h.Name, i, h.How)
				continue
			}
			hooks.set(h.Name, i, "absent")
			absent.set(fmt.Sprintf("%s (%s): %s", h.Name, h.Why, h.Lost), i, k.Arch+" "+k.Series)
		}
		for _, f := range c.Facts {
			facts.set(f.Name, i, f.Value)
		}
	}
	for _, r := range absent.rows {
		on := slices.DeleteFunc(r.Cells, func(cell string) bool { return cell == "-" })
		data.Absent = append(data.Absent, fmt.Sprintf("on %s: %s", strings.Join(on, ", "), r.Name))
	}
	slices.Sort(series)
	data.Series = strings.Join(slices.Compact(series), ", ")
	data.Rows, data.Facts = hooks.rows, facts.rows
	tmpl, err := template.ParseFiles("testdata/KERNELS.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type table struct {
	columns int
	rows    []row
}

func newTable(columns int) *table { return &table{columns: columns} }

func (t *table) set(name string, column int, value string) {
	i := slices.IndexFunc(t.rows, func(r row) bool { return r.Name == name })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, row{name, slices.Repeat([]string{"-"}, t.columns)})
	}
	t.rows[i].Cells[column] = value
}
