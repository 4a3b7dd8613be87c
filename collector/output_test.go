package collector

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestOutputIsPrivateAndNewUnlessForced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.bin")
	out, err := createOutput(path, false)
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString("old")
	out.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := createOutput(path, false); !errors.Is(err, ErrExists) {
		t.Errorf("an existing file gives %v", err)
	}
	if out, err = createOutput(path, true); err != nil {
		t.Fatal(err)
	}
	out.WriteString("new")
	wantContent(t, path, "old") // until commit
	if err := out.commit(); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "new")
	out.WriteString("er")
	out.Close()
	wantContent(t, path, "newer")
	wantFiles(t, filepath.Dir(path), 1)
}

func TestAbandonedOutputLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.bin")
	out, err := createOutput(path, false)
	if err != nil {
		t.Fatal(err)
	}
	out.abandon()
	wantFiles(t, dir, 0)
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err = createOutput(path, true); err != nil {
		t.Fatal(err)
	}
	out.WriteString("new")
	out.abandon()
	wantContent(t, path, "old")
	wantFiles(t, dir, 1)
}

func TestOutputRefusesWhatIsNoPlainFile(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, fifo, dir} {
		for _, force := range []bool{false, true} {
			if out, err := createOutput(path, force); err == nil {
				out.Close()
				t.Errorf("%s is taken, force %v", path, force)
			}
		}
	}
	wantContent(t, victim, "precious")
	_, err := createOutput(filepath.Join(dir, "no", "such"), false)
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "no/such") != 1 {
		t.Errorf("a folder that is not there gives %v", err)
	}
	null, err := createOutput(os.DevNull, false)
	if err != nil {
		t.Fatal(err)
	}
	null.abandon()
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is gone: %v", os.DevNull, err)
	}
}

func TestOutputBelongsToWhoCalledSudo(t *testing.T) {
	testenv.Root(t)
	t.Setenv("SUDO_UID", "12345")
	t.Setenv("SUDO_GID", "54321")
	out, err := createOutput(filepath.Join(t.TempDir(), "events.bin"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(out.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	if st.Uid != 12345 || st.Gid != 54321 {
		t.Errorf("it belongs to %d:%d", st.Uid, st.Gid)
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

func wantFiles(t *testing.T, dir string, want int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != want {
		t.Errorf("%d files in the folder (%v), want %d", len(files), err, want)
	}
}
