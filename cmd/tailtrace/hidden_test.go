package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// hideEnv lists folders that are emptied before tailtrace starts, in a mount
// namespace of its own.
const hideEnv = "TAILTRACE_TEST_HIDE"

func withoutFolders() {
	for dir := range strings.FieldsSeq(os.Getenv(hideEnv)) {
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			fmt.Println(err)
			os.Exit(100)
		}
	}
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// without runs tailtrace without some folders.
func (i *itself) without(t *testing.T, hide []string, args ...string) (code int, said string) {
	t.Helper()
	cmd := i.command("without-folders", args...)
	cmd.Env = append(os.Environ(), hideEnv+"="+strings.Join(hide, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestKernelWithoutTypesIsRefusedWithTheWayOut(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	code, said := self.without(t, []string{"/sys/kernel/btf"}, "check")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"BTF", "CONFIG_DEBUG_INFO_BTF", "hint: --btf FILE", "pahole"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

func TestKernelWithoutTypesIsRecordedByAFileWithThem(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	types, err := os.ReadFile("/sys/kernel/btf/vmlinux")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(self.dir, "vmlinux.btf"), types, 0o644); err != nil {
		t.Fatal(err)
	}
	hidden := []string{"/sys/kernel/btf"}
	code, said := self.without(t, hidden, "check", "--btf", "vmlinux.btf")
	if code != exitDone || lacks(said, "off: ") || strings.Contains(said, "tp_btf") || !strings.Contains(said, "raw_tp") {
		t.Errorf("check: exit code %d:\n%s", code, said)
	}
	pid := self.startPublisher(t)
	code, said = self.without(t, hidden, "-pid", fmt.Sprint(pid), "-out", "events.bin", "--duration", "1s", "-btf", "vmlinux.btf")
	if code != exitDone || strings.Contains(said, "no request windows") || lacks(said, "not observed") {
		t.Errorf("record: exit code %d:\n%s", code, said)
	}
	code, said = self.without(t, hidden, "check", "--btf", "program")
	if code != exitFailed || !strings.Contains(said, "tailtrace: error: ") || !strings.Contains(said, ".BTF section") || !strings.Contains(said, "hint: ") {
		t.Errorf("a file of another kind: exit code %d:\n%s", code, said)
	}
}

func TestTracefsIsNotNeeded(t *testing.T) {
	testenv.Root(t)
	var dirs []string
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug"} {
		if _, err := os.Stat(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	code, said := newItself(t).without(t, dirs, "check")
	if code != exitDone || lacks(said, "off: ") {
		t.Errorf("without %v: exit code %d:\n%s", dirs, code, said)
	}
}

// lacks reports whether a mark is on some line that is not about the PMU, which
// virtual machines lack.
func lacks(said, mark string) bool {
	for line := range strings.Lines(said) {
		if strings.Contains(line, mark) && !strings.Contains(line, "pmu ") {
			return true
		}
	}
	return false
}

// Above the kernel's own highest level, 2, some distributions' kernels ask for
// more than the capability that is meant for it.
func TestPerfEventParanoiaIsNamedWhereItMatters(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	pid := self.startPublisher(t)
	for level, mayRefuse := range map[string]bool{"2": false, "4": true} {
		setPerfParanoia(t, level)
		code, said := self.record(t, pid, ownedUnitCapabilities(t)...)
		refused := strings.Contains(said, "not observed: page_faults")
		if code != exitDone || refused && (!mayRefuse || !strings.Contains(said, "perf_event_paranoid is "+level)) {
			t.Errorf("level %s: exit code %d:\n%s", level, code, said)
		}
	}
}

func setPerfParanoia(t *testing.T, level string) {
	t.Helper()
	const path = "/proc/sys/kernel/perf_event_paranoid"
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Need(t, os.WriteFile(path, []byte(level), 0) == nil, "the right to write "+path)
	t.Cleanup(func() { os.WriteFile(path, before, 0) })
}
