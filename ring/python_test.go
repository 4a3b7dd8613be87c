package ring

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestPythonPublisher runs the tests that the Python publisher has of its own.
func TestPythonPublisher(t *testing.T) {
	ran := regexp.MustCompile(`(?m)^Ran [1-9]\d* tests in .*\n\nOK$`)
	for _, python := range pythons(t) {
		t.Run(python, func(t *testing.T) {
			cmd := exec.Command(python, "-m", "unittest", "discover", "-s", "python")
			out, err := cmd.CombinedOutput()
			if err != nil || !ran.Match(out) {
				t.Errorf("%v: %v\n%s", cmd, err, out)
			}
		})
	}
}
