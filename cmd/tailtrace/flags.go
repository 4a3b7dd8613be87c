package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// newFlags returns a flag set that prints usage to s.out on --help.
func newFlags(s streams, name, args, text string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(s.out)
	f.Usage = func() {
		fmt.Fprintf(s.out, "Usage: tailtrace %s\n\n%s\n\nFlags:\n%s", strings.TrimSpace(name+" "+args), text, f.FlagUsages())
	}
	return f
}

// parse reads args, in which every long flag may also have a single dash.
func parse(f *pflag.FlagSet, args []string) error {
	err := f.Parse(twoDashes(f, args))
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return usageError(err.Error(), fmt.Sprintf("run 'tailtrace %s --help' for its flags", f.Name()))
}

// twoDashes gives the flags of f that are written with one dash a second one.
// Numbers below zero and what follows a bare -- stay.
func twoDashes(f *pflag.FlagSet, args []string) []string {
	out := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		if name, ok := strings.CutPrefix(a, "-"); ok && len(name) > 1 && !strings.HasPrefix(name, "-") {
			bare, _, _ := strings.Cut(name, "=")
			if f.Lookup(bare) != nil || !isNumber(bare) {
				a = "-" + a
			}
		}
		out = append(out, a)
	}
	return out
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// oneFile takes the single positional argument of a command.
func oneFile(f *pflag.FlagSet) (string, error) {
	if f.NArg() == 1 {
		return f.Arg(0), nil
	}
	hint := fmt.Sprintf("tailtrace %s FILE ...; run 'tailtrace %s --help'", f.Name(), f.Name())
	if f.NArg() == 0 {
		return "", usageError("no events file given", hint)
	}
	return "", usageError(fmt.Sprintf("one events file expected, and %q is another argument", f.Arg(1)), hint+" (rows go after --rows)")
}
