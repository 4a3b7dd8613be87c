package main

import (
	"fmt"
	"strings"
)

// takesFile reports whether a flag's value is the name of a file.
func (f *cliFlag) takesFile() bool {
	switch f.name {
	case "out", "rows", "json", "html", "dir", "ring", "btf", "events", "base", "arm":
		return f.kind != ""
	}
	return false
}

func (c *subcommand) takesFile() bool {
	return strings.HasPrefix(c.args, "FILE") || strings.HasPrefix(c.args, "ROWS") || strings.HasSuffix(c.name, "verify")
}

func (p *program) names() string {
	var names []string
	for _, c := range p.commands {
		names = append(names, c.name)
	}
	return strings.Join(names, " ")
}

func bashCompletion(p *program) string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f("# bash completion for tailtrace")
	f("_tailtrace() {")
	f("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} flags=")
	f("\tif ((COMP_CWORD == 1)) && [[ $cur != -* ]]; then")
	f("\t\tmapfile -t COMPREPLY < <(compgen -W %q -- \"$cur\")\n\t\treturn\n\tfi", p.names())
	f("\t[[ $command == -* ]] && command=record")
	f("\tcase $command$prev in")
	for _, c := range p.commands {
		for _, fl := range c.flags {
			switch {
			case fl.takesFile():
				f("\t%s--%s|%s-%s) compopt -o default; return ;;", c.name, fl.name, c.name, fl.name)
			case fl.kind != "":
				f("\t%s--%s|%s-%s) return ;;", c.name, fl.name, c.name, fl.name)
			}
		}
	}
	f("\tesac")
	f("\tcase $command in")
	for _, c := range p.commands {
		var flags []string
		for _, fl := range c.flags {
			flags = append(flags, "--"+fl.name)
		}
		f("\t%s) flags=%q ;;", c.name, strings.Join(flags, " "))
	}
	f("\tesac")
	f("\tif [[ $cur == -* ]]; then")
	f("\t\t[[ $cur != --* ]] && cur=-$cur")
	f("\t\tmapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")")
	f("\telse\n\t\tcompopt -o default\n\tfi\n}")
	f("complete -F _tailtrace tailtrace")
	return b.String()
}

func zshCompletion(p *program) string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f("#compdef tailtrace")
	f("local -a commands=(")
	for _, c := range p.commands {
		f("\t%s", quote(c.name+":"+c.short))
	}
	f(")")
	f("if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n\t_describe command commands\n\treturn\nfi")
	f("local command=$words[2]")
	f("if [[ $command == -* ]]; then command=record; else shift words; ((CURRENT--)); fi")
	f("case $command in")
	for _, c := range p.commands {
		f("%s)\n\t_arguments \\", c.name)
		for _, fl := range c.flags {
			f("\t\t%s \\", quote("--"+fl.name+"["+strings.NewReplacer("[", "(", "]", ")", ":", `\:`).Replace(fl.text)+"]"+fl.zshValue()))
		}
		if c.takesFile() {
			f("\t\t'*:file:_files'")
		} else {
			f("\t\t'*: :'")
		}
		f("\t;;")
	}
	f("esac")
	return b.String()
}

func (f *cliFlag) zshValue() string {
	switch {
	case f.kind == "":
		return ""
	case f.takesFile():
		return ":file:_files"
	}
	return ":" + f.kind + ":"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
