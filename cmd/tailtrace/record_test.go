package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// sleeper is a process to trace.
func sleeper(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return strconv.Itoa(cmd.Process.Pid)
}

// failing runs the binary, which must fail, and returns what it says.
func failing(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%v succeeded:\n%s", cmd.Args, out)
	}
	return string(out)
}

func TestRecordSaysWhyItCannot(t *testing.T) {
	testenv.Root(t)
	bin, pid, dir := build(t), sleeper(t), t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ring := func(magic string, version, slots uint32) []byte {
		b := make([]byte, 4096+256*64)
		copy(b, magic)
		for at, v := range map[int]uint32{8: version, 12: 4096, 16: 256, 20: slots, 24: 1, 28: 1} {
			binary.LittleEndian.PutUint32(b[at:], v)
		}
		return b
	}
	const magic = "TTRING\x00\x01"
	tests := map[string]struct {
		args []string
		want []string
	}{
		"existing output":   {[]string{"-out", write("there.bin", nil)}, []string{"file exists", "hint: --force replaces it"}},
		"no such folder":    {[]string{"-out", dir + "/none/x.bin"}, []string{"no such file or directory"}},
		"output is no file": {[]string{"-out", dir, "--force"}, []string{"not a regular file"}},
		"ring with another magic": {
			[]string{"-out", dir + "/x.bin", "--ring", write("magic.ring", ring("NOTRING\x00", 1, 64))}, []string{"magic", "hint: --ring auto"},
		},
		"ring of another version": {
			[]string{"-out", dir + "/x.bin", "--ring", write("version.ring", ring(magic, 9, 64))}, []string{"unknown ABI version: 9, this reader knows 1"},
		},
		"ring whose size is no power of two": {
			[]string{"-out", dir + "/x.bin", "--ring", write("size.ring", ring(magic, 1, 63))}, []string{"63"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out := failing(t, exec.Command(bin, append([]string{"-pid", pid, "--duration", "1s"}, tt.args...)...))
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in %q", want, out)
				}
			}
			if _, err := os.Stat(dir + "/x.bin"); err == nil {
				t.Error("an events file was left behind")
			}
		})
	}
}

func TestRecordWithoutPrivilegeNamesTheCapabilities(t *testing.T) {
	testenv.Root(t)
	dir, err := os.MkdirTemp("", "tailtrace-test-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "tailtrace")
	run(t, "cp", build(t), bin)
	cmd := exec.Command(bin, "-pid", sleeper(t), "-out", "/tmp/never.bin")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out := failing(t, cmd)
	for _, want := range []string{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "hint: run it with sudo"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %q", want, out)
		}
	}
}

// TestSeveralPids: pgrep prints one a line, which a shell makes further words.
func TestSeveralPidsAreTracedTogether(t *testing.T) {
	testenv.Root(t)
	bin, a, b, out := build(t), sleeper(t), sleeper(t), filepath.Join(t.TempDir(), "x.bin")
	text := run(t, bin, "-pid", a, b, "-out", out, "--duration", "500ms")
	if !strings.Contains(text, "(duration)") || !strings.Contains(text, "no request windows") {
		t.Errorf("summary: %s", text)
	}
	failing(t, exec.Command(bin, "explain", out))
}

func TestKilledServiceEndsTheRecordingInOrder(t *testing.T) {
	testenv.Root(t)
	bin, out := build(t), filepath.Join(t.TempDir(), "x.bin")
	service := exec.Command("sleep", "1000")
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Second, func() { service.Process.Kill(); service.Wait() })
	text := run(t, bin, "-pid", strconv.Itoa(service.Process.Pid), "-out", out)
	if !strings.Contains(text, "(target exited)") {
		t.Errorf("summary: %s", text)
	}
}
