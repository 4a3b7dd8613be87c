package collector

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// eachFlavour runs a test with the programs for a kernel that knows its types,
// and, by the same types in a file, with those for one that does not.
func eachFlavour(t *testing.T, test func(t *testing.T, typesFile string)) {
	testenv.Root(t)
	t.Run("tp_btf", func(t *testing.T) { test(t, "") })
	t.Run("raw_tp", func(t *testing.T) { test(t, copyOfOwnTypes(t)) })
}

func copyOfOwnTypes(t testing.TB) (path string) {
	t.Helper()
	types, err := os.ReadFile(ownTypes)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "vmlinux.btf")
	if err := os.WriteFile(path, types, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTypesOfAnotherKernelAreRefused(t *testing.T) {
	testenv.Root(t)
	for _, field := range []string{"pid", "comm", "group_leader", "start_boottime"} {
		_, err := openKernel(&Config{BTF: typesWithMoved(t, field)})
		var refused *TypesError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "another kernel") {
			t.Errorf("%s is elsewhere: %v", field, err)
		}
	}
}

// typesWithMoved is a file with the types of this kernel, in which a field of
// task_struct is 64 bytes from where the kernel has it.
func typesWithMoved(t *testing.T, field string) (path string) {
	t.Helper()
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	var task, regs *btf.Struct
	var point *btf.Typedef
	for name, typ := range map[string]any{"task_struct": &task, "pt_regs": &regs, "btf_trace_sched_switch": &point} {
		if err := spec.TypeByName(name, typ); err != nil {
			t.Fatal(err)
		}
	}
	i := slices.IndexFunc(task.Members, func(m btf.Member) bool { return m.Name == field })
	if i < 0 {
		t.Fatalf("no field %s", field)
	}
	task.Members[i].Offset -= 64 * 8
	b, err := btf.NewBuilder([]btf.Type{task, regs, point}, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "moved.btf")
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
