package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/correlate/stats"
)

func runCompare(s streams, args []string) error {
	f := newFlags(s, "compare", "--base A,... --arm B,... [--key COLUMN] [--tail 1%] [--json FILE]",
		`Holds the runs of an arm against those of a base, paired in their order. Files are JSON of explain or stats, rows,
or histogram logs; every run in one is a round. Rows also tell how much the runs' tails share by position and key.`)
	base := f.StringSlice("base", nil, "files of the base, in the order of the rounds")
	arm := f.StringSlice("arm", nil, "files of the arm, likewise")
	key := f.String("key", "", "column of the rows, such as customer, by whose values tails are compared too")
	tail := f.String("tail", "1%", "the slowest share of each run of rows")
	jsonOut := f.String("json", "", "also write the comparison as JSON to this file (- for stdout instead of text)")
	if err := parse(f, args); err != nil {
		return err
	}
	if err := checkSides(f, *base, *arm); err != nil {
		return err
	}
	fraction, err := tailFraction(*tail)
	if err != nil {
		return err
	}
	c, err := compare(*base, *arm, fraction, *key)
	if err != nil {
		return err
	}
	if *jsonOut == "-" {
		return writeJSON(s.out, c)
	}
	if *jsonOut != "" {
		if err := saveJSON(*jsonOut, c); err != nil {
			return err
		}
	}
	return c.Text(s.out)
}

func checkSides(f *pflag.FlagSet, base, arm []string) error {
	const hint = "tailtrace compare --base base1.json,base2.json --arm arm1.json,arm2.json"
	if f.NArg() > 0 {
		return usageError(fmt.Sprintf("%q belongs to no side", f.Arg(0)), hint+" (commas without spaces)")
	}
	for _, name := range []string{"base", "arm"} {
		if !f.Changed(name) {
			return usageError(fmt.Sprintf("--%s is not given", name), hint)
		}
	}
	for _, path := range append(base[:len(base):len(base)], arm...) {
		if strings.TrimSpace(path) == "" {
			return usageError("a file name is empty", hint+" (commas without spaces)")
		}
	}
	return nil
}

func compare(base, arm []string, fraction float64, key string) (*report.Compare, error) {
	b, err := readSide(base)
	if err != nil {
		return nil, err
	}
	a, err := readSide(arm)
	if err != nil {
		return nil, err
	}
	if len(b.rounds) != len(a.rounds) {
		return nil, usageError(fmt.Sprintf("the base has %d runs and the arm %d: they do not pair up", len(b.rounds), len(a.rounds)),
			"run base and arm in turns, and give the files in that order")
	}
	c, err := report.NewCompare(b.rounds, a.rounds)
	if err != nil {
		return nil, err
	}
	sets := append(b.sets, a.sets...)
	switch {
	case key != "" && len(sets) == 0:
		return nil, usageError("--key needs rows, and none of the files are rows", "give the rows files themselves")
	case key != "" && !stats.HasColumn(sets, key):
		return nil, usageError(fmt.Sprintf("the rows have no field %q", key), "the names of a row's own fields, or of members as in steps.read")
	case len(sets) > 0:
		c.Shared = stats.SharedTails(sets, fraction, key)
	}
	return c, nil
}
