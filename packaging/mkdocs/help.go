package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// program is what `tailtrace help` says.
type program struct {
	about    string
	commands []subcommand
	notes    []string // what stands below the list of commands
}

// subcommand is what its --help says.
type subcommand struct {
	name, args, short string
	about             string
	flags             []cliFlag
}

type cliFlag struct {
	name string
	kind string // of its value; "" = it takes none
	text string
}

var (
	commandLine = regexp.MustCompile(`^  tailtrace (\S+)(?: (.*?))?\s{2,}(\S.*)$`)
	flagLine    = regexp.MustCompile(`^\s+(?:-\w, )?--([\w-]+)(\[=\S*\])?(?: (\w+))?\s{2,}(\S.*)$`)
)

func parseHelp(text string) (*program, error) {
	about, rest, ok := strings.Cut(text, "\n\nUsage:\n")
	if !ok {
		return nil, errors.New("parse help: no usage in it")
	}
	p := &program{about: oneLine(about)}
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		if m := commandLine.FindStringSubmatch("  " + line); m != nil {
			p.commands = append(p.commands, subcommand{name: m[1], args: m[2], short: m[3]})
		} else if line != "" {
			p.notes = append(p.notes, line)
		}
	}
	if len(p.commands) == 0 {
		return nil, errors.New("parse help: no commands in it")
	}
	return p, nil
}

func (c *subcommand) parse(text string) error {
	_, rest, ok := strings.Cut(text, "\n\n")
	about, flags, ok2 := strings.Cut(rest, "\n\nFlags:\n")
	if !ok || !ok2 {
		return fmt.Errorf("parse help of %s: no text or no flags in it", c.name)
	}
	c.about = oneLine(about)
	for line := range strings.Lines(flags) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		m := flagLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("parse help of %s: no flag in %q", c.name, line)
		}
		c.flags = append(c.flags, cliFlag{name: m[1], kind: m[3], text: m[4]})
	}
	return nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
