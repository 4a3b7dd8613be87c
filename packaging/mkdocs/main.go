// Command mkdocs makes the man page and the shell completions of tailtrace
// from what the program says of itself with --help, so that they cannot fall
// behind it.
//
//	mkdocs bin/tailtrace dist/docs
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: mkdocs TAILTRACE DIR")
		os.Exit(2)
	}
	if err := makeDocs(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "mkdocs:", err)
		os.Exit(1)
	}
}

func makeDocs(program, dir string) error {
	p, err := ask(program)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"tailtrace.1":    manPage(p),
		"tailtrace.bash": bashCompletion(p),
		"_tailtrace":     zshCompletion(p),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ask reads a program's help.
func ask(path string) (*program, error) {
	text, err := exec.Command(path, "help").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for help: %w", path, err)
	}
	p, err := parseHelp(string(text))
	if err != nil {
		return nil, err
	}
	for i := range p.commands {
		c := &p.commands[i]
		text, err := exec.Command(path, c.name, "--help").Output()
		if err != nil {
			continue // it takes no flags, not even this one
		}
		if err := c.parse(string(text)); err != nil {
			return nil, err
		}
	}
	return p, nil
}
