package vmtest

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Guest is a virtual machine to run.
type Guest struct {
	Kernel Kernel
	Cache  Cache
	Options
	Job   Job
	Files map[string]string // files and folders of this machine, by their paths in the guest
	// Results is the folder for what Job.Results holds at the end.
	Results string
}

// Run boots the guest, copies what its program prints to out, and returns the
// program's exit code. A guest that ends without one, or whose kernel
// complains of itself, is an error that holds the end of the console.
func (g *Guest) Run(ctx context.Context, out io.Writer) (code int, err error) {
	dir, err := os.MkdirTemp("", "vmtest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	f := files{
		initramfs: filepath.Join(dir, "initramfs"),
		console:   filepath.Join(dir, "console"),
		scratch:   filepath.Join(dir, "scratch"),
		results:   filepath.Join(dir, "results"),
	}
	if f.kernel, _, err = g.Cache.image(g.Kernel); err != nil {
		return 0, err
	}
	if err := g.prepare(&f); err != nil {
		return 0, fmt.Errorf("prepare guest %s: %w", g.Kernel.Name(), err)
	}
	code, err = g.boot(ctx, &f, out)
	if complaint := complaints(f.console); complaint != nil {
		err = errors.Join(err, complaint)
	}
	if err != nil {
		return 0, fmt.Errorf("run guest %s: %w\nthe end of its console:\n%s", g.Kernel.Name(), err, lastLines(f.console, 40))
	}
	if g.Job.Results != "" {
		if err := unpackResults(f.results, g.Results); err != nil {
			return 0, fmt.Errorf("take results out of guest %s: %w", g.Kernel.Name(), err)
		}
	}
	return code, nil
}

const (
	scratchBytes = 512 << 20
	resultsBytes = 256 << 20
)

// prepare makes the guest's disks and its file system.
func (g *Guest) prepare(f *files) error {
	for path, size := range map[string]int64{f.scratch: scratchBytes, f.results: resultsBytes} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		if err := os.Truncate(path, size); err != nil {
			return err
		}
	}
	if _, err := run(exec.Command("/sbin/mkfs.ext4", "-q", "-E", "lazy_itable_init=0,nodiscard", f.scratch)); err != nil {
		return err
	}
	first, err := buildInit(g.Cache, g.Kernel.Arch)
	if err != nil {
		return err
	}
	job, err := json.Marshal(g.Job)
	if err != nil {
		return err
	}
	file, err := os.Create(f.initramfs)
	if err != nil {
		return err
	}
	defer file.Close()
	a := newInitramfs(file)
	a.file(InitPath, first)
	for _, name := range Programs {
		a.link("/bin/"+name, InitPath)
	}
	a.data(JobPath, string(job))
	a.dir(g.Job.Dir)
	for _, name := range slices.Sorted(maps.Keys(g.Files)) {
		a.add(name, g.Files[name])
	}
	return a.close()
}

// buildInit builds the guest's first process.
func buildInit(c Cache, arch string) (path string, err error) {
	path, err = filepath.Abs(filepath.Join(string(c), "init-"+arch))
	if err != nil {
		return "", err
	}
	return path, Build(path, arch, "github.com/tailtrace/tailtrace/internal/vmtest/guest")
}

// Build builds a Go command, static, for Linux and an architecture.
func Build(path, arch, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	_, err := run(cmd)
	return err
}

// boot runs QEMU to its end.
func (g *Guest) boot(ctx context.Context, f *files, out io.Writer) (code int, err error) {
	m := machines[g.Kernel.Arch]
	end := &endFilter{w: out}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, m.qemu, m.args(g.Options, *f)...)
	cmd.Stdout, cmd.Stderr = end, &complaint
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", m.qemu, errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(complaint.Bytes()))
	}
	return end.code()
}

// endFilter passes on everything but the mark of the end and what follows it.
type endFilter struct {
	w    io.Writer
	tail []byte // the mark, or what may become it
}

func (e *endFilter) Write(b []byte) (int, error) {
	e.tail = append(e.tail, b...)
	pass := len(e.tail)
	if i := bytes.Index(e.tail, []byte(EndMark)); i >= 0 {
		pass = i
	} else if i := bytes.LastIndexByte(e.tail, EndMark[0]); i >= 0 && len(e.tail)-i < len(EndMark) {
		pass = i
	}
	if _, err := e.w.Write(e.tail[:pass]); err != nil {
		return 0, err
	}
	e.tail = append(e.tail[:0], e.tail[pass:]...)
	return len(b), nil
}

func (e *endFilter) code() (int, error) {
	text, ok := strings.CutPrefix(string(e.tail), EndMark)
	number, ended := strings.CutSuffix(text, "\n")
	code, err := strconv.Atoi(number)
	if !ok || !ended || err != nil {
		return 0, errors.New("it ended without a result")
	}
	return code, nil
}

// complaint is what a kernel prints when it finds a fault in itself.
var complaint = regexp.MustCompile(`Oops|BUG:|Kernel panic|WARNING: .*CPU|Unable to handle kernel|blocked for more than`)

func complaints(console string) error {
	text, err := os.ReadFile(console)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if complaint.MatchString(line) {
			return fmt.Errorf("its kernel complains: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

func unpackResults(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !h.FileInfo().Mode().IsRegular() {
			continue
		}
		if !fs.ValidPath(h.Name) {
			return fmt.Errorf("bad name %q", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
}
