package vmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
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

// boot runs QEMU to its end.
func (g *Guest) boot(ctx context.Context, f *files, out io.Writer) (code int, err error) {
	m := machines[g.Kernel.Arch]
	end := &endFilter{w: out}
	var complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, m.qemu, m.args(g.Options, *f)...)
	cmd.Stdout, cmd.Stderr = end, &complaint
	// The emulator must not outlive whoever waits for it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", m.qemu, errors.Join(err, context.Cause(ctx)), bytes.TrimSpace(complaint.Bytes()))
	}
	return end.code()
}
