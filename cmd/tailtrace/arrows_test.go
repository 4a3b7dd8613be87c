package main

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/tailtrace/tailtrace/"

// deps lists everything that pkg is built from, tests left out.
func deps(t *testing.T, goos, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", pkg)
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

func TestImportsPointOneWay(t *testing.T) {
	tests := map[string][]string{ // package: prefixes that it must not be built from
		"correlate/report":    {module + "bpf", module + "ring", module + "internal", module + "cmd", "github.com/cilium/ebpf", "os/exec", "net"},
		"collector":           {module + "correlate", module + "cmd", module + "internal"},
		"collector/eventfile": {module + "correlate", module + "bpf", module + "ring", module + "cmd", module + "internal", "github.com/cilium/ebpf"},
		"ring":                {module + "correlate", module + "bpf", module + "collector", module + "cmd", module + "internal", "github.com/cilium/ebpf"},
		"bpf":                 {module + "correlate", module + "collector", module + "ring", module + "cmd", module + "internal"},
	}
	for pkg, forbidden := range tests {
		for _, dep := range deps(t, "linux", module+pkg) {
			for _, f := range forbidden {
				if dep == f || strings.HasPrefix(dep, f+"/") {
					t.Errorf("%s is built from %s", pkg, dep)
				}
			}
		}
	}
	for _, dep := range deps(t, "linux", module+"correlate/...") {
		if strings.HasPrefix(dep, module+"collector") && dep != module+"collector/eventfile" {
			t.Errorf("correlate is built from %s", dep)
		}
	}
}
