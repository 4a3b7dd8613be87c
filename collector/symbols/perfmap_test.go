package symbols

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestCodeCompiledAnewReplacesTheOld(t *testing.T) {
	var p perfMap
	p.parse([]byte("1000 20 py::a:/x y.py\n1020 10 b\n"))
	p.parse([]byte("1000 10 c\nbad line\n1030 zz d\n2000 0 e\nffffffffffffffff 10 f\n0x3000 8 LazyCompile:~g\r\n"))
	for addr, want := range map[uint64]string{
		0x1000: "c", 0x100f: "c", 0x1010: "", 0x1020: "b", 0x1030: "", 0x2000: "", 0x3007: "LazyCompile:~g", 0xffffffffffffffff: "",
	} {
		if _, got, _ := p.table.find(addr); got != want {
			t.Errorf("%#x is in %q, want %q", addr, got, want)
		}
	}
}

// fakeProcess makes a /proc/PID whose root is a folder of its own.
func fakeProcess(t *testing.T) (dir, perfMapPath string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "root/tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "root/tmp/perf-7.map")
}

func writePerfMap(t *testing.T, path, text string, flags int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestPerfMapIsReadOnAsItGrows(t *testing.T) {
	dir, path := fakeProcess(t)
	var p perfMap
	for _, step := range []struct {
		text  string
		flags int
		addr  uint64
		want  string
	}{
		{"1000 10 a\n2000 10 half", os.O_APPEND, 0x2000, ""}, // a line that is being written
		{" and half\n", os.O_APPEND, 0x2000, "half and half"},
		{"3000 10 c\n", os.O_APPEND, 0x1000, "a"},
		{"1000 10 new\n", os.O_TRUNC, 0x1000, "new"},
	} {
		writePerfMap(t, path, step.text, step.flags)
		if err := p.refresh(dir, 7); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := p.table.find(step.addr); got != step.want {
			t.Errorf("after %q: %#x is in %q, want %q", step.text, step.addr, got, step.want)
		}
	}
}

func TestPerfMapThatIsNoneIsLeftAlone(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o666) },
		"link":      func(path string) error { return os.Symlink("/etc/hostname", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		dir, path := fakeProcess(t)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		var p perfMap
		if err := p.refresh(dir, 7); err == nil || len(p.table.list) > 0 {
			t.Errorf("%s: %v, %d functions", name, err, len(p.table.list))
		}
	}
}

func TestPerfMapOfAnotherUserIsLeftAlone(t *testing.T) {
	testenv.Root(t)
	dir, path := fakeProcess(t)
	writePerfMap(t, path, "1000 10 a\n", 0)
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	var p perfMap
	if err := p.refresh(dir, 7); err == nil {
		t.Error("it was read")
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if err := p.refresh(dir, 7); err != nil || len(p.table.list) != 1 {
		t.Errorf("%v, %d functions", err, len(p.table.list))
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add([]byte("1000 20 py::a:/x y.py\n1000 10 b\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p perfMap
		p.parse(text)
		for i, s := range p.table.list {
			if i > 0 && s.addr <= p.table.list[i-1].addr {
				t.Fatal("not in order")
			}
			if _, name, ok := p.table.find(s.addr); !ok || name == "" && !hasNUL(p.table.names[s.name:]) {
				t.Fatalf("%#x is not found", s.addr)
			}
		}
	})
}

func hasNUL(names []byte) bool { return len(names) > 0 && names[0] == 0 }
