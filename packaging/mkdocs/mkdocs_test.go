package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// docs makes the documents of the real program, in a folder.
func docs(t *testing.T) (dir string, p *program) {
	t.Helper()
	dir = t.TempDir()
	bin := filepath.Join(dir, "tailtrace")
	if out, err := exec.Command("go", "build", "-o", bin, "../../cmd/tailtrace").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if err := makeDocs(bin, dir); err != nil {
		t.Fatal(err)
	}
	p, err := ask(bin)
	if err != nil {
		t.Fatal(err)
	}
	return dir, p
}

func TestEveryFlagOfEveryCommandIsDescribed(t *testing.T) {
	dir, p := docs(t)
	record := slices.IndexFunc(p.commands, func(c subcommand) bool { return c.name == "record" })
	if record < 0 || !slices.ContainsFunc(p.commands[record].flags, func(f cliFlag) bool { return f.name == "pid" && f.kind != "" }) {
		t.Fatalf("no record --pid in %+v", p)
	}
	page, err := os.ReadFile(filepath.Join(dir, "tailtrace.1"))
	if err != nil {
		t.Fatal(err)
	}
	zsh, err := os.ReadFile(filepath.Join(dir, "_tailtrace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.commands {
		if !strings.Contains(string(page), ".B tailtrace "+c.name+"\n") {
			t.Errorf("%s is not in the man page", c.name)
		}
		for _, f := range c.flags {
			if !strings.Contains(string(page), `.B \-\-`+roff(f.name)) {
				t.Errorf("--%s is not in the man page", f.name)
			}
			if !strings.Contains(string(zsh), "'--"+f.name+"[") {
				t.Errorf("--%s is not in zsh's completion", f.name)
			}
		}
	}
}

func TestBashCompletes(t *testing.T) {
	dir, p := docs(t)
	bash, err := exec.LookPath("bash")
	testenv.Need(t, err == nil, "bash")
	for _, c := range []struct{ line, want string }{
		{"tailtrace ", p.names()},
		{"tailtrace expl", "explain"},
		{"tailtrace -pi", "--pid"},
		{"tailtrace record --o", "--out"},
		{"tailtrace explain events.bin --ro", "--rows"},
		{"tailtrace record --pid ", ""},
	} {
		words := strings.Split(c.line, " ")
		script := `compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tailtrace; echo "${COMPREPLY[*]}"`
		out, err := exec.Command(bash, append([]string{"-c", script, filepath.Join(dir, "tailtrace.bash")}, words...)...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%q: %q (%v), want %q", c.line, got, err, c.want)
		}
	}
}

func TestHelpThatCannotBeReadIsAnError(t *testing.T) {
	for _, text := range []string{"", "Usage:\n", "about\n\nUsage:\nnothing\n"} {
		if p, err := parseHelp(text); err == nil {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
	var c subcommand
	if err := c.parse("Usage: x\n\ntext\n\nFlags:\n  no flag here\n"); err == nil {
		t.Errorf("a bad line is read as %+v", c)
	}
}
