package main

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// update rewrites the expected outputs in the scripts.
var update = flag.Bool("update", false, "rewrite expected outputs")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tailtrace":       func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"publish":         publish,
		"slowservice":     serveSlowly,
		"without-folders": withoutFolders,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			return errors.Join(writeSample(e.WorkDir), writeStackSample(e.WorkDir))
		},
	})
}
