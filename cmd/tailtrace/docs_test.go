package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// transcript is a command in a document, and what it says it prints.
type transcript struct {
	args []string
	want []string
}

// transcripts takes the commands of tailtrace out of a document's code blocks:
// an indented line that begins with $, and below it some of the output.
func transcripts(text string) (list []transcript) {
	open, blank := false, false
	for line := range strings.Lines(text) {
		code, ok := strings.CutPrefix(strings.TrimRight(line, " \n"), "    ")
		command, isCommand := strings.CutPrefix(code, "$ ")
		switch {
		case !ok && strings.TrimSpace(line) != "": // prose
			open = false
		case isCommand:
			fields := strings.Fields(command)
			if open = fields[0] == "tailtrace"; open {
				list = append(list, transcript{args: fields[1:]})
			}
		case ok && open:
			last := &list[len(list)-1]
			if blank && len(last.want) > 0 {
				last.want = append(last.want, "")
			}
			last.want = append(last.want, code)
		}
		blank = strings.TrimSpace(line) == ""
	}
	return list
}

// follows reports whether the wanted lines are in the output, in order and one
// after the other but for lines of three dots, which stand for any others.
// It returns the first that is not.
func follows(output string, want []string) (missing string, ok bool) {
	lines := strings.Split(output, "\n")
	skip := true
	for _, w := range want {
		if w == "..." {
			skip = true
			continue
		}
		at := slices.Index(lines, w)
		if at < 0 || at > 0 && !skip {
			return w, false
		}
		lines, skip = lines[at+1:], false
	}
	return "", true
}

// TestDocumentsShowWhatIsPrinted runs the commands of the documents on the
// sample that comes with them.
func TestDocumentsShowWhatIsPrinted(t *testing.T) {
	for _, d := range []struct {
		file     string
		sample   string // where the document's paths lead to
		commands int    // that it has at least
	}{
		{"README.md", "examples/sample", 1},
		{"docs/QUESTIONS.md", ".", 8},
	} {
		t.Run(d.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../..", d.file))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, d.sample), os.DirFS("../../examples/sample")); err != nil {
				t.Fatal(err)
			}
			t.Chdir(dir)
			list := transcripts(string(text))
			if len(list) < d.commands {
				t.Errorf("%d commands, want %d", len(list), d.commands)
			}
			for _, tr := range list {
				tr.check(t)
			}
		})
	}
}

func (tr *transcript) check(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Main(tr.args, nil, &out, &errs); code != exitDone {
		t.Errorf("tailtrace %s: exit code %d, %s", strings.Join(tr.args, " "), code, &errs)
	}
	if missing, ok := follows(out.String(), tr.want); !ok {
		t.Errorf("tailtrace %s does not print, at its place:\n%s\nbut:\n%s", strings.Join(tr.args, " "), missing, &out)
	}
}

func TestFollows(t *testing.T) {
	const output = "a\nb\nc\nd\n"
	for want, missing := range map[string]string{
		"a b": "", "b c": "", "a ... d": "", "... d": "", "": "",
		"a c": "c", "b a": "a", "x": "x", "a ... x": "x",
	} {
		if got, ok := follows(output, strings.Fields(want)); got != missing || ok != (missing == "") {
			t.Errorf("%s: %q, %v", want, got, ok)
		}
	}
}
