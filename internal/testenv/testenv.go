// Package testenv is the one place where a test may say that this machine
// cannot run it. With TAILTRACE_MUST_RUN=1, as in CI, such a test fails
// instead of being skipped, so that a suite that skipped everything is never
// taken for one that passed.
package testenv

import (
	"os"
	"testing"
)

// Root runs the rest of the test only as root.
func Root(t testing.TB) {
	t.Helper()
	Need(t, os.Geteuid() == 0, "root")
}

// Need runs the rest of the test only where ok holds; what names the thing
// that is missing otherwise.
func Need(t testing.TB, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("TAILTRACE_MUST_RUN") == "1" {
		t.Fatalf("this test must run here and needs %s", what)
	}
	t.Skipf("needs %s", what)
}
