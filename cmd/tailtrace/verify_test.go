package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
)

// leaf is a number of a document, and how to change it.
type leaf struct {
	path string
	set  func(any)
}

func numbers(v any, path string) (list []leaf) {
	visit := func(inner string, v any, set func(any)) {
		if _, ok := v.(json.Number); ok {
			list = append(list, leaf{inner, set})
			return
		}
		list = append(list, numbers(v, inner)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			visit(inner, v[name], func(to any) { v[name] = to })
		}
	case []any:
		for i := range v {
			visit(fmt.Sprintf("%s[%d]", path, i), v[i], func(to any) { v[i] = to })
		}
	}
	return list
}

func decodeNumbers(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

var index = regexp.MustCompile(`\[\d+\]`)

// TestEveryKindOfNumberIsVerified changes one number of each kind in a report.
func TestEveryKindOfNumberIsVerified(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := writeSample("."); err != nil {
		t.Fatal(err)
	}
	_, x, err := analyze("events.bin", []string{"rows.jsonl"}, correlate.Options{Tail: .01, All: true})
	if err != nil {
		t.Fatal(err)
	}
	honest, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) string {
		doc, err := report.ReadDocument(text, report.File{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := verifyReport(doc, "events.bin", []string{"rows.jsonl"})
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			return ""
		}
		return d.Path
	}
	if path := check(honest); path != "" {
		t.Fatalf("an honest report differs at %s", path)
	}
	kinds := map[string]string{} // the last number of each kind
	for _, l := range numbers(decodeNumbers(t, honest), "") {
		kind := index.ReplaceAllString(l.path, "[]")
		kinds[kind] = max(kinds[kind], l.path)
	}
	if len(kinds) < 80 {
		t.Errorf("%d kinds of numbers", len(kinds))
	}
	for _, path := range kinds {
		doc := decodeNumbers(t, honest)
		all := numbers(doc, "")
		all[slices.IndexFunc(all, func(l leaf) bool { return l.path == path })].set(json.Number("123456789"))
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := check(text); got != path {
			t.Errorf("%s was changed; found: %q", path, got)
		}
	}
}
