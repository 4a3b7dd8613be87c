//go:build vmtest

package vmtest_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// unpackRelease extracts the package that make release has made for an
// architecture.
func unpackRelease(t *testing.T, arch string) (dir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "dist", "*_"+arch+".deb"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("%d packages for %s in dist: %v; make release", len(found), arch, found)
	}
	dir = t.TempDir()
	if out, err := exec.Command("dpkg-deb", "-x", found[0], dir).CombinedOutput(); err != nil {
		t.Fatalf("dpkg-deb: %v: %s", err, out)
	}
	return dir
}

// The packages' programs start and attach on kernels that are not this
// machine's.
func TestRelease(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		dir := unpackRelease(t, arch)
		for _, file := range []string{
			"usr/lib/systemd/system/tailtrace@.service", "usr/share/man/man1/tailtrace.1.gz",
			"usr/share/bash-completion/completions/tailtrace", "usr/share/zsh/vendor-completions/_tailtrace",
		} {
			if found, err := filepath.Glob(filepath.Join(dir, file)); err != nil || len(found) != 1 {
				t.Errorf("%s is not in the package for %s", file, arch)
			}
		}
	}
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		if !k.CI {
			t.Skip("one kernel of each architecture is enough for this")
		}
		run := func(args ...string) string {
			code, out := guest(t, &vmtest.Guest{
				Kernel: k,
				Job:    vmtest.Job{Args: append([]string{"/usr/bin/tailtrace"}, args...), Dir: "/"},
				Files:  map[string]string{"/": unpackRelease(t, k.Arch)},
			}, 5*time.Minute)
			if code != 0 {
				t.Fatalf("%v: exit code %d:\n%s", args, code, out)
			}
			return out
		}
		if out := run("version"); !strings.HasPrefix(out, "tailtrace ") || !strings.Contains(out, " linux/"+k.Arch+" ") {
			t.Errorf("version says %q", out)
		}
		var c check
		if out := run("check", "--json"); json.Unmarshal([]byte(out), &c) != nil || len(c.Hooks) == 0 {
			t.Errorf("check says %q", out)
		}
	})
}
