package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestStatsScripts runs the commands on rows and reports.
func TestStatsScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/stats", UpdateScripts: *update, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"edit": edit},
		Setup: func(e *testscript.Env) error {
			return errors.Join(writeSample(e.WorkDir), writeWarmup(e.WorkDir), writeStatsSample(e.WorkDir))
		},
	})
}

// writeWarmup makes a copy of the sample's rows in which none counts.
func writeWarmup(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "rows.jsonl"))
	if err != nil {
		return err
	}
	all := strings.ReplaceAll(string(text), `"status"`, `"warmup": true, "status"`)
	return os.WriteFile(filepath.Join(dir, "warmup.jsonl"), []byte(all), 0o644)
}

// edit FILE OLD NEW replaces the first OLD in FILE, which must have one.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, args[1], args[2], 1)
	if after == before {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(after), 0o644))
}
