package vmtest

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// Kernel is one line of kernels.txt.
type Kernel struct {
	Series string // "5.10", or only the major version where the suite moves on
	Arch   string // as GOARCH
	Suite  string // of Debian
	CI     bool   // booted on every run of the tests
}

//go:embed kernels.txt
var kernelList string

// Kernels returns the listed kernels.
func Kernels() []Kernel {
	kernels, err := parseKernels(kernelList)
	if err != nil {
		panic(err) // it is compiled in, and a test reads it
	}
	return kernels
}

func parseKernels(text string) ([]Kernel, error) {
	var kernels []Kernel
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 3 || machines[f[1]] == nil || len(f) > 3 && !slices.Equal(f[3:], []string{"ci"}) {
			return nil, fmt.Errorf("parse list of kernels: bad line %q", line)
		}
		kernels = append(kernels, Kernel{Series: f[0], Arch: f[1], Suite: f[2], CI: len(f) == 4})
	}
	return kernels, nil
}

// Name is how the kernel is called on command lines: "5.10-arm64".
func (k Kernel) Name() string { return k.Series + "-" + k.Arch }

// Select returns the kernels that a comma-separated list of names stands for;
// "all" and "ci" are names too.
func Select(names string) ([]Kernel, error) {
	var chosen []Kernel
	for name := range strings.SplitSeq(names, ",") {
		before := len(chosen)
		for _, k := range Kernels() {
			if name == "all" || name == "ci" && k.CI || name == k.Name() {
				chosen = append(chosen, k)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("select kernels: no kernel is named %q", name)
		}
	}
	return chosen, nil
}

// is reports whether a kernel of this release is one of the series.
func (k Kernel) is(release string) bool {
	rest, ok := strings.CutPrefix(release, k.Series)
	return ok && strings.HasPrefix(rest, ".")
}
