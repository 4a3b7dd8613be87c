package ring

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// reread makes the go command run a test again when files have changed that it
// uses through other programs only.
func reread(t *testing.T, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pythons returns the interpreters at hand: the system's, the one on PATH, and
// one without the GIL.
func pythons(t *testing.T) []string {
	t.Helper()
	reread(t, "python/*.py", "python/testdata/*.py")
	var found []string
	for _, name := range []string{"/usr/bin/python3", "python3", "python3.14t", "python3.13t"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import sys; assert sys.version_info >= (3, 9)").Run() == nil {
			found = append(found, path)
		}
	}
	testenv.Need(t, len(found) > 0, "python3, 3.9 or later")
	return found
}

// compiler is a way to build a C source.
type compiler struct {
	name string
	args []string
}

// compilers returns the C11 and C++17 compilers at hand.
func compilers(t *testing.T) []compiler {
	t.Helper()
	reread(t, "c/*.h", "c/testdata/*.c")
	var found []compiler
	for _, c := range []compiler{
		{"cc", []string{"-std=c11"}},
		{"clang", []string{"-std=c11"}},
		{"g++", []string{"-std=c++17", "-x", "c++"}},
	} {
		if _, err := exec.LookPath(c.name); err == nil {
			found = append(found, c)
		}
	}
	testenv.Need(t, len(found) > 0, "a C compiler")
	return found
}

// build compiles source, with warnings as errors, and returns the program.
func (c compiler) build(t *testing.T, source string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program}, c.args...)
	if out, err := exec.Command(c.name, append(args, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", c.name, args, err, out)
	}
	return program
}
