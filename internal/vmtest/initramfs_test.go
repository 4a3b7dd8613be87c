//go:build vmtest

package vmtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The archive is read back by the tool whose format it is.
func TestInitramfsHoldsWhatWasPacked(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "tree/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tree/deep/file"), []byte("12345"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := newInitramfs(&out)
	a.link("/bin/true", "/init")
	a.data("/vmtest/job.json", "{}")
	a.add("/work", filepath.Join(dir, "tree"))
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cpio", "-i", "--quiet")
	cmd.Dir, cmd.Stdin = t.TempDir(), &out
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpio: %v: %s", err, text)
	}
	for name, want := range map[string]string{"vmtest/job.json": "{}", "work/deep/file": "12345"} {
		if got, err := os.ReadFile(filepath.Join(cmd.Dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(cmd.Dir, "work/deep/file")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode of a program: %v, %v", info, err)
	}
	if got, err := os.Readlink(filepath.Join(cmd.Dir, "bin/true")); err != nil || got != "/init" {
		t.Errorf("link: %q, %v", got, err)
	}
}
