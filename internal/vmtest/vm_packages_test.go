//go:build vmtest

package vmtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// suites are the tests that depend on the kernel or the architecture.
var suites = []struct {
	pkg string
	run string // those that need nothing which a guest lacks
	ci  string // of these, the ones for every run (-short)
}{
	{"bpf", "", ""},
	{"ring", "", "Large|Read|Slot"},
	{"collector/eventfile", "", "Frozen"},
	{"collector/ringfollow", "", "Check|Mapping"},
	{"collector", "", "Check|MissingTracepoint|SleepIs|SleepFrom|ThreadsOfEvery|FaultsAre|FaultThatFails|HolderOf|WithoutOverflow|ExecFrom|Counters"},
	{"cmd/tailtrace", "Privileges|Container|Cgroup|Kernel|Tracefs|Perf", "Privileges|Container"},
}

// guestLacks is what tests may miss in a guest for being a guest, as they
// name it to testenv.Need. What they may miss for its kernel is in
// docs/KERNELS.md.
var guestLacks = []string{"python3", "python3, 3.9 or later", "a C compiler", "unshare", "a kernel that is not preemptible"}

// kernelLacks is the same for kernels, beside their hooks.
var kernelLacks = map[string][]string{"5.10-arm64": {"a kernel that walks user stacks"}}

func TestPackages(t *testing.T) {
	runner := build(t, runtime.GOARCH, "internal/vmtest/cmd/vmtest")
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		want, got := map[string]bool{}, map[string]*result{}
		for _, s := range suites {
			if testing.Short() {
				s.run = s.ci
			}
			for _, name := range declaredTests(t, s.pkg, k.Arch) {
				if regexp.MustCompile(s.run).MatchString(name) {
					want[s.pkg+"."+name] = true
				}
			}
			results, err := goTest(t, runner, k, s.pkg, s.run)
			if err != nil {
				t.Errorf("%s: %v", s.pkg, err)
			}
			maps.Copy(got, results)
		}
		passed := 0
		for name := range want {
			switch r := got[name]; {
			case r == nil:
				t.Errorf("%s has no result", name)
			case r.Action == "pass":
				passed++
			case r.Action == "skip":
				if !mayMiss(t, k, r.output) {
					t.Errorf("%s may not be skipped on this kernel:\n%s", name, r.output)
				}
			default:
				t.Errorf("%s: %s\n%s", name, r.Action, r.output)
			}
		}
		t.Logf("%d of %d tests passed", passed, len(want))
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if !want[name] {
				t.Errorf("%s has a result and no declaration", name)
			} else if got[name].Action == "skip" {
				t.Logf("skipped: %s: %s", name, reason(got[name].output))
			}
		}
	})
}

// declaredTests reads the names of a package's tests from its source, apart
// from any run of them.
func declaredTests(t *testing.T, pkg, arch string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-json", "./"+pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var listed struct {
		Dir                       string
		TestGoFiles, XTestGoFiles []string
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range append(listed.TestGoFiles, listed.XTestGoFiles...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(listed.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
				names = append(names, f.Name.Name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("package %s has no tests", pkg)
	}
	return names
}

// isTest: fuzz targets run their seeds as tests do.
func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") && name != "TestMain" || strings.HasPrefix(name, "Fuzz")
}

// result is how a test ended.
type result struct {
	Action string // "pass", "fail", "skip"
	output string
}

// goTest runs a package in a guest and returns the results by package and
// name, of tests and not of their parts.
func goTest(t *testing.T, runner string, k vmtest.Kernel, pkg, run string) (map[string]*result, error) {
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-timeout=20m", "-run", run,
		"-exec", fmt.Sprintf("%s exec -cache %s -kernel %s -with packaging", runner, cache, k.Name()), "./"+pkg)
	cmd.Dir = root
	// Of what a guest lacks a test says so; whether it may is decided here.
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+k.Arch, "CGO_ENABLED=0", "TAILTRACE_MUST_RUN=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	results, err := readResults(out)
	return results, errors.Join(err, cmd.Wait())
}

func readResults(r io.Reader) (map[string]*result, error) {
	results, output := map[string]*result{}, map[string]string{}
	for dec := json.NewDecoder(r); ; {
		var e struct{ Action, Package, Test, Output string }
		err := dec.Decode(&e)
		if errors.Is(err, io.EOF) {
			return results, nil
		}
		if err != nil {
			return results, fmt.Errorf("read results: %w", err)
		}
		test, _, isPart := strings.Cut(e.Test, "/")
		name := strings.TrimPrefix(e.Package, module+"/") + "." + test
		switch {
		case e.Action == "output":
			output[name] += e.Output
		case e.Test != "" && !isPart && slices.Contains([]string{"pass", "fail", "skip"}, e.Action):
			results[name] = &result{e.Action, output[name]}
		case e.Test == "" && e.Action == "fail":
			fmt.Fprint(os.Stderr, output[name]) // what the guest says beside its tests
		}
	}
}

// reason is what a skipped test needs, as testenv.Need says it.
func reason(output string) string {
	for line := range strings.Lines(output) {
		if _, what, ok := strings.Cut(line, ": needs "); ok {
			return strings.TrimSpace(what)
		}
	}
	return ""
}

// mayMiss reports whether a test may be skipped for what it says it needs.
func mayMiss(t *testing.T, k vmtest.Kernel, output string) bool {
	what := reason(output)
	hook, ok := strings.CutPrefix(what, "hook ")
	return slices.Contains(guestLacks, what) || slices.Contains(kernelLacks[k.Name()], what) || ok && known(t, k).off(hook)
}

// off reports whether a hook is known to be off.
func (c *check) off(name string) bool {
	for _, h := range c.Hooks {
		if h.Name == name {
			return h.How == ""
		}
	}
	return false
}
