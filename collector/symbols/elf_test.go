package symbols

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

const tinyGo = "package main\n\n//go:noinline\nfunc work() int { return 1 }\n\nfunc main() { work() }\n"

const tinyC = "int helper(int x) { return x + 1; }\nint main(void) { return helper(-1); }\n"

// compile builds a source with a command whose last arguments are the output
// and the source.
func compile(t *testing.T, source, ext string, command ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "src."+ext), filepath.Join(dir, "program")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], append(command[1:], "-o", out, src)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func readFile(t testing.TB, path string) *image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := readImage(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func has(img *image, name string) bool {
	for _, s := range img.symbols.list {
		if img.symbols.text(s) == name {
			return true
		}
	}
	return false
}

func TestStrippedGoProgramStillHasItsFunctions(t *testing.T) {
	for _, flags := range []string{"", "-s -w"} {
		img := readFile(t, compile(t, tinyGo, "go", "go", "build", "-ldflags="+flags))
		for _, name := range []string{"main.work", "runtime.mcall"} {
			if !has(img, name) && !has(img, name+goABI) {
				t.Errorf("built with %q: no %s among %d functions", flags, name, len(img.symbols.list))
			}
		}
	}
}

func TestCProgramHasItsFunctionsOrItsBuildID(t *testing.T) {
	cc, err := exec.LookPath("cc")
	testenv.Need(t, err == nil, "a C compiler")
	img := readFile(t, compile(t, tinyC, "c", cc, "-Wl,--build-id=0xc0ffee0123456789"))
	if !has(img, "helper") || img.buildID != "c0ffee0123456789" {
		t.Errorf("%d functions, build id %q", len(img.symbols.list), img.buildID)
	}
	img = readFile(t, compile(t, tinyC, "c", cc, "-s", "-Wl,--build-id=0xc0ffee0123456789"))
	if has(img, "helper") || img.buildID != "c0ffee0123456789" {
		t.Errorf("stripped: %d functions, build id %q", len(img.symbols.list), img.buildID)
	}
}

func TestVDSOIsReadOutOfTheOwnProcess(t *testing.T) {
	img, raw := readVDSO()
	if img == nil || len(raw) == 0 || len(img.symbols.list) == 0 {
		t.Fatalf("%+v", img)
	}
	if !has(img, "clock_gettime") && !has(img, "__vdso_clock_gettime") && !has(img, "__kernel_clock_gettime") {
		t.Error("no clock_gettime")
	}
}

// The functions of this program, found by the addresses of its own code.
func TestAddressesOfThisProgramHaveNames(t *testing.T) {
	r := NewResolver()
	defer r.Close()
	addr := uint64(reflect.ValueOf(tableOf).Pointer())
	s := r.Resolve(&Raw{ID: 5, Pid: int32(os.Getpid()), User: []uint64{addr}})
	if len(s.Frames) == 0 || !strings.HasSuffix(s.Frames[0].Symbol, "symbols.tableOf") || s.ID != 5 {
		t.Errorf("%+v", s)
	}
}

func TestNamesOfCppAndRustAreReadable(t *testing.T) {
	r := NewResolver()
	for name, want := range map[string]string{
		"_ZN5boost4asio6detail9scheduler3runERNS_6system10error_codeE": "boost::asio::detail::scheduler::run",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE":             "core::fmt::Write::write_fmt",
		"_RNvC6_123foo3bar": "123foo::bar",
		"main.work.abi0":    "main.work",
		"_Zbroken":          "_Zbroken",
		"py::f:/x.py":       "py::f:/x.py",
	} {
		if got := r.demangle(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, "/dev/zero"} {
		if f, err := openRegular(path, 0); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

// FuzzImage damages a real program. Whatever comes of it stays within bounds.
func FuzzImage(f *testing.F) {
	_, vdso := readVDSO()
	f.Add(uint16(0), []byte{}, vdso)
	f.Add(uint16(0x28), []byte{0xff, 0xff, 0xff, 0xff}, vdso)
	f.Add(uint16(0x3c), []byte{0xff, 0xff}, vdso)
	f.Fuzz(func(t *testing.T, at uint16, damage, file []byte) {
		file = append([]byte(nil), file...)
		if int(at) < len(file) {
			copy(file[at:], damage)
		}
		img, err := readImage(bytes.NewReader(file))
		if err != nil {
			return
		}
		m := &module{image: *img, code: bytes.NewReader(file)}
		for i, s := range img.symbols.list {
			if i > 0 && s.addr <= img.symbols.list[i-1].addr {
				t.Fatal("functions are not in order")
			}
			if off, ok := img.offset(s.addr); !ok {
				t.Fatal("a function is not in code")
			} else if v, ok := img.vaddr(off); !ok || len(img.loads) == 1 && v != s.addr {
				t.Fatalf("%#x is at %#x, which is %#x", s.addr, off, v)
			}
			m.site(amd64{}, s.addr+1, i%2 == 0)
		}
	})
}
