package main

import (
	"fmt"
	"runtime"
)

// version is set by the release build.
var version = "0.1.0-dev"

// toolName is what a recording says it was written by.
func toolName() string { return "tailtrace " + version }

func runVersion(s streams, args []string) error {
	if len(args) > 0 {
		return usageError(fmt.Sprintf("version takes no argument, and %q is one", args[0]), "run 'tailtrace help' for the list")
	}
	fmt.Fprintf(s.out, "tailtrace %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return nil
}
