//go:build vmtest

package vmtest_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// Tests with the tag vmtest boot guests, some for minutes; make vmtest runs them.
var kernelNames = flag.String("kernels", "ci", "kernels to boot: names with commas, ci, or all")

const (
	module = "github.com/tailtrace/tailtrace"
	root   = "../.."
)

var cache = func() vmtest.Cache {
	dir, err := filepath.Abs(filepath.Join(root, ".cache/vmtest"))
	if err != nil {
		panic(err)
	}
	return vmtest.Cache(dir)
}()

// eachKernel runs a test for every chosen kernel, as many at once as -parallel
// says.
func eachKernel(t *testing.T, test func(t *testing.T, k vmtest.Kernel)) {
	t.Helper()
	kernels, err := vmtest.Select(*kernelNames)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kernels {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			test(t, k)
			t.Logf("took %s", time.Since(began).Round(100*time.Millisecond))
		})
	}
}

// guest runs g with a time limit and returns its exit code and output.
func guest(t *testing.T, g *vmtest.Guest, limit time.Duration) (int, string) {
	t.Helper()
	g.Cache = cache
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("it takes longer than %s", limit))
	defer cancel()
	var out bytes.Buffer
	code, err := g.Run(ctx, &out)
	if err != nil {
		t.Fatalf("%v\nits output:\n%s", err, out.String())
	}
	return code, out.String()
}

// build builds one of the module's commands, for a guest.
func build(t *testing.T, arch, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if err := vmtest.Build(path, arch, module+"/"+pkg); err != nil {
		t.Fatal(err)
	}
	return path
}
