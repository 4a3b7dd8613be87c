package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// Exit codes, as `tailtrace help` documents them.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitCheck  = 3 // a check did not hold
)

// streams are what a command reads and writes: data to out, messages to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// command is one subcommand.
type command struct {
	name  string
	args  string // after the name, for usage
	short string
	run   func(s streams, args []string) error
}

func commands() []command {
	return []command{
		{"record", "-pid PID[,PID...] -out FILE", "record until Ctrl-C (the default command)", runRecord},
		{"explain", "FILE [--rows FILE ...]", "join with the client's rows and explain the tail", runExplain},
		{"burst", "FILE [--rows FILE ...]", "drill into the seconds with the most tail requests", runBurst},
		{"stats", "ROWS...", "statistics of client rows alone", runStats},
		{"compare", "--base A,... --arm B,...", "an arm against a base, round by round", runCompare},
		{"verify", "REPORT.json --events FILE --rows FILE", "recompute every number of a report", runVerify},
		{"export", "FILE --format F --out FILE", "write requests for other tools", runExport},
		{"profile", "FILE [--rows FILE ...] [--off-cpu]", "in which functions the tail's requests ran or waited, beside the rest", runProfile},
		{"check", "", "what this kernel and box allow, and what would be lost", runCheck},
		{"demo", "", "an embedded service with injected causes, recorded and explained", runDemo},
		{"version", "", "print the version", runVersion},
	}
}

// Main runs tailtrace as a function of its arguments and streams and returns
// the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{stdin, stdout, stderr}
	err := dispatch(s, args)
	if err == nil {
		return exitDone
	}
	return printError(stderr, err)
}

func dispatch(s streams, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" || args[0] == "-help" {
		return help(s, args)
	}
	if args[0] == "--version" || args[0] == "-version" {
		return runVersion(s, nil)
	}
	if strings.HasPrefix(args[0], "-") {
		return runRecord(s, args)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(s, args[1:])
		}
	}
	return usageError(fmt.Sprintf("unknown command %q", args[0]), "run 'tailtrace help' for the list")
}

func help(s streams, args []string) error {
	if len(args) > 1 && args[0] == "help" {
		return dispatch(s, []string{args[1], "--help"})
	}
	fmt.Fprint(s.out, "tailtrace explains tail latency: which slow requests were descheduled, faulted or interrupted,\nby whom, and what is left unexplained.\n\nUsage:\n")
	for _, c := range commands() {
		fmt.Fprintf(s.out, "  tailtrace %-44s %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	fmt.Fprint(s.out, "\nRun 'tailtrace COMMAND --help' for a command's flags. Long flags may have one dash or two.\nExit codes: 0 done, 1 failed, 2 usage, 3 a check did not hold.\n")
	return nil
}

// hintError is an error with advice, and the exit code it calls for.
type hintError struct {
	err  error
	hint string
	code int
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

func usageError(message, hint string) error {
	return &hintError{errors.New(message), hint, exitUsage}
}

func withHint(err error, hint string) error {
	return &hintError{err, hint, exitFailed}
}

// checkError says that a check did not hold.
func checkError(err error, hint string) error {
	return &hintError{err, hint, exitCheck}
}

// printError prints an error and its hint and returns the exit code.
func printError(w io.Writer, err error) int {
	if errors.Is(err, pflag.ErrHelp) {
		return exitDone
	}
	code, hint := exitFailed, hintFor(err)
	var h *hintError
	if errors.As(err, &h) {
		code = h.code
		if h.hint != "" {
			hint = h.hint
		}
	}
	fmt.Fprintf(w, "tailtrace: error: %s\n", err)
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	return code
}
