//go:build vmtest

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// These need programs that make vmtest installs.

func TestManPageIsCleanTroff(t *testing.T) {
	dir, _ := docs(t)
	out, err := exec.Command("groff", "-man", "-Tutf8", "-ww", "-z", filepath.Join(dir, "tailtrace.1")).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

func TestZshTakesItsCompletion(t *testing.T) {
	dir, _ := docs(t)
	if out, err := exec.Command("zsh", "-n", filepath.Join(dir, "_tailtrace")).CombinedOutput(); err != nil {
		t.Errorf("zsh -n: %v\n%s", err, out)
	}
}
