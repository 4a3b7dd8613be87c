package eventfile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the newest frozen file and its text anew")

// frozen are the samples of all versions, the newest last: testdata has of each
// the file and what is in it.
var frozen = []string{"v1", "v1.1"}

func frozenFile(name string) string { return filepath.Join("testdata", name+".bin") }
func frozenText(name string) string { return filepath.Join("testdata", name+".txt") }

// TestFrozenFilesAreReadForEver keeps later versions able to read the files of
// all before. Only a change of the sample before a release is a reason to
// update.
func TestFrozenFilesAreReadForEver(t *testing.T) {
	if *update {
		name, file := frozen[len(frozen)-1], sampleFile(t)
		writeTestdata(t, frozenFile(name), file)
		writeTestdata(t, frozenText(name), []byte(describe(t, file)))
	}
	for _, name := range frozen {
		file, err := os.ReadFile(frozenFile(name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(frozenText(name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), describe(t, file)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func writeTestdata(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// describe tells a file in words, a record a line.
func describe(t *testing.T, file []byte) string {
	t.Helper()
	f, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	line := func(what string, v any) { fmt.Fprintln(&text, what+tell(reflect.ValueOf(v))) }
	line("Header", *f.Header())
	for f.Next() {
		if e := f.Event(); e != nil {
			line("Event", *e)
		} else {
			m := reflect.ValueOf(f.Meta()).Elem()
			line(m.Type().Name(), m.Interface())
		}
	}
	line("Summary", f.Summary())
	return text.String()
}

// tell leaves out what is zero: a field that a later version adds is not in
// the text of an old file.
func tell(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return tell(v.Elem())
	case reflect.Struct:
		for field, value := range v.Fields() {
			if !value.IsZero() {
				parts = append(parts, field.Name+" "+tell(value))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			parts = append(parts, tell(v.Index(i)))
		}
	case reflect.String:
		return fmt.Sprintf("%+q", v)
	default:
		return fmt.Sprint(v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestFrozenFilesHaveEveryCodecAndTypeOfBlock(t *testing.T) {
	for _, name := range frozen {
		file, err := os.ReadFile(frozenFile(name))
		if err != nil {
			t.Fatal(err)
		}
		codecs, types := map[codec]bool{}, map[frameType]bool{}
		for _, f := range frames(t, file) {
			codecs[f.codec], types[f.kind] = true, true
		}
		if len(codecs) != 2 || len(types) != 4 {
			t.Errorf("%s: codecs %v, types of block %v", name, codecs, types)
		}
	}
}
