package main

import (
	"fmt"
	"strings"
)

func manPage(p *program) string {
	var b strings.Builder
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`.TH TAILTRACE 1 "" "tailtrace" "User Commands"`)
	f(".SH NAME\ntailtrace \\- explain tail latency")
	f(".SH SYNOPSIS")
	for _, c := range p.commands {
		f(".B tailtrace %s\n%s\n.br", c.name, roff(c.args))
	}
	f(".SH DESCRIPTION\n%s", roff(p.about))
	f(".PP\n.B record\nis the default command and may be left out.")
	for _, c := range p.commands {
		f(".SH %s", strings.ToUpper("tailtrace "+c.name))
		f("%s", roff(upperFirst(c.short)+"."))
		if c.about != "" {
			f(".PP\n%s", roff(c.about))
		}
		for _, fl := range c.flags {
			f(".TP\n.B \\-\\-%s\n%s", roff(strings.TrimSpace(fl.name+" "+fl.kind)), roff(fl.text))
		}
	}
	f(".SH NOTES\n%s", roff(strings.Join(p.notes, " ")))
	f(".PP\nInstead of root, the capabilities CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH do, and before")
	f("Linux 5.11 also CAP_SYS_RESOURCE. The unit tailtrace@.service has exactly these: systemctl start tailtrace@NAME")
	f("records the service NAME until it is stopped.")
	return b.String()
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// roff protects what troff would obey.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
