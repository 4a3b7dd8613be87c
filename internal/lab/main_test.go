package lab

import (
	"os"
	"testing"
)

// TestMain lets this executable be a process of the lab, as tailtrace is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Subcommand {
		os.Exit(Main(os.Args[2:]))
	}
	if dir := os.Getenv(runForeverIn); dir != "" {
		runForever(dir)
	}
	os.Exit(m.Run())
}
