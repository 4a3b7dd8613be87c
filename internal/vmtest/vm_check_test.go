//go:build vmtest

package vmtest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// volatile facts are of the moment.
var volatile = []string{"busy", "steal", "fault trap"}

// What check says inside a guest must be what docs/KERNELS.md says of it.
func TestCheck(t *testing.T) {
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		code, out := guest(t, &vmtest.Guest{
			Kernel: k,
			Job:    vmtest.Job{Args: []string{"/bin/tailtrace", "check", "--json"}, Dir: "/"},
			Files:  map[string]string{"/bin/tailtrace": build(t, k.Arch, "cmd/tailtrace")},
		}, 5*time.Minute)
		var got check
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("exit code %d, %v:\n%s", code, err, out)
		}
		got.Facts = slices.DeleteFunc(got.Facts, func(f fact) bool { return slices.Contains(volatile, f.Name) })
		if *update {
			save(t, k, &got)
		}
		if diff := cmp.Diff(known(t, k), &got); diff != "" {
			t.Errorf("not as known (-known +got); go test -tags vmtest ./internal/vmtest -run TestCheck -args -kernels %s -update:\n%s", k.Name(), diff)
		}
	})
}

// Of a kernel that is taken as one which does not know its types, a file with
// them gives all that it has, in other ways; a file of this machine's does not.
func TestCheckWithoutTypes(t *testing.T) {
	otherWay := map[string]string{"tp_btf": "raw_tp", "iter/task": "/proc", "bpf_task_pt_regs": "kernel stack"}
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		const own, ours = "/sys/kernel/btf/vmlinux", "/ours.btf"
		tailtrace := build(t, k.Arch, "cmd/tailtrace")
		with := func(types string) (int, string) {
			return guest(t, &vmtest.Guest{
				Kernel: k,
				Job:    vmtest.Job{Args: []string{"/bin/tailtrace", "check", "--json", "--btf", types}, Dir: "/"},
				Files:  map[string]string{"/bin/tailtrace": tailtrace, ours: own},
			}, 5*time.Minute)
		}
		want := known(t, k).Hooks
		for i := range want {
			if how, ok := otherWay[want[i].How]; ok {
				want[i].How = how
			}
		}
		code, out := with(own)
		var got check
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Fatalf("exit code %d, %v:\n%s", code, err, out)
		}
		if diff := cmp.Diff(want, got.Hooks); diff != "" {
			t.Errorf("hooks (-want +got):\n%s", diff)
		}
		refusal := "this kernel"
		if k.Arch != runtime.GOARCH {
			refusal = "they are of " + runtime.GOARCH
		}
		if code, out := with(ours); code != 1 || !strings.Contains(out, refusal) || !strings.Contains(out, "hint: ") {
			t.Errorf("with the types of another kernel: exit code %d:\n%s", code, out)
		}
	})
}

// A locked down kernel is used where it lets itself, and refused by that name
// where not.
func TestLockdown(t *testing.T) {
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		tailtrace := build(t, k.Arch, "cmd/tailtrace")
		in := func(mode string) (int, string) {
			return guest(t, &vmtest.Guest{
				Kernel:  k,
				Options: vmtest.Options{Append: []string{"lockdown=" + mode}},
				Job:     vmtest.Job{Args: []string{"/bin/tailtrace", "check"}, Dir: "/"},
				Files:   map[string]string{"/bin/tailtrace": tailtrace},
			}, 5*time.Minute)
		}
		absent := 0 // as docs/KERNELS.md says too
		for _, h := range known(t, k).Hooks {
			if h.How == "" {
				absent++
			}
		}
		if code, out := in("integrity"); code != 0 || strings.Count(out, "off: ") != absent || !strings.Contains(out, "integrity") {
			t.Errorf("integrity: exit code %d:\n%s", code, out)
		}
		if code, out := in("confidentiality"); code != 1 || !strings.Contains(out, "locked down (confidentiality)") || !strings.Contains(out, "hint: ") {
			t.Errorf("confidentiality: exit code %d:\n%s", code, out)
		}
	})
}

func save(t *testing.T, k vmtest.Kernel, c *check) {
	t.Helper()
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	path := checkFile(k)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
