// Command vmtest runs Go test binaries on other kernels and architectures, in
// virtual machines: it is for the -exec flag of go test.
//
//	GOARCH=arm64 go test -exec 'vmtest exec -kernel 5.10-arm64' ./collector
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

func main() {
	os.Exit(command(os.Args[1:]))
}

func command(args []string) int {
	if len(args) == 0 {
		return usage()
	}
	var code int
	var err error
	switch args[0] {
	case "exec":
		code, err = execute(args[1:])
	case "fetch":
		err = fetch(args[1:])
	case "list":
		for _, k := range vmtest.Kernels() {
			fmt.Println(k.Name())
		}
	default:
		return usage()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vmtest:", err)
		return 1
	}
	return code
}

func usage() int {
	fmt.Fprint(os.Stderr, `usage:
  vmtest list                                    names of kernels
  vmtest fetch [-cache DIR] NAME,...|ci|all      put kernels into the cache
  vmtest exec -kernel NAME [-cache DIR] [-cpus N] [-with DIR...] PROGRAM [ARG...]
                                                 run a static program in a guest, with the files of this folder
`)
	return 2
}

const defaultCache = ".cache/vmtest"

func fetch(args []string) error {
	f := flag.NewFlagSet("fetch", flag.ExitOnError)
	cache := f.String("cache", defaultCache, "folder that keeps kernels")
	f.Parse(args)
	for _, names := range f.Args() {
		kernels, err := vmtest.Select(names)
		if err != nil {
			return err
		}
		for _, k := range kernels {
			release, err := vmtest.Cache(*cache).Fetch(k)
			if err != nil {
				return err
			}
			fmt.Printf("%s\t%s\n", k.Name(), release)
		}
	}
	return nil
}

// execute runs a program in a guest and returns its exit code.
func execute(args []string) (int, error) {
	f := flag.NewFlagSet("exec", flag.ExitOnError)
	cache := f.String("cache", defaultCache, "folder that keeps kernels")
	name := f.String("kernel", "", "name of the kernel")
	cpus := f.Int("cpus", 2, "CPUs of the guest")
	shift := f.Int("shift", 0, "if above 0, an instruction takes 2^N ns of the guest's time")
	with := f.String("with", "", "more folders of the module whose files the program reads")
	f.Parse(args)
	kernels, err := vmtest.Select(*name)
	if err != nil {
		return 0, err
	}
	if len(kernels) != 1 || f.NArg() == 0 {
		return usage(), nil
	}
	const program = "/vmtest/program"
	g := vmtest.Guest{
		Kernel:  kernels[0],
		Cache:   vmtest.Cache(*cache),
		Options: vmtest.Options{CPUs: *cpus, InstructionShift: *shift},
		Job:     vmtest.Job{Args: append([]string{program}, guestArgs(f.Args()[1:])...), Env: guestEnv()},
		Files:   map[string]string{program: f.Arg(0)},
	}
	if g.Job.Dir, err = addSources(g.Files, strings.Fields(*with)); err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return g.Run(ctx, os.Stdout)
}

// addSources adds what a test may read, at the same place in the module as it
// has here: the files below the current folder, which go test makes the
// package's own, and those of other folders, but no Go source. It returns
// where the current folder is in the guest.
func addSources(files map[string]string, other []string) (dir string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	module := here
	for ; ; module = filepath.Dir(module) {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		if module == "/" {
			return "", fmt.Errorf("find the module of %s: no go.mod", here)
		}
	}
	inGuest := func(path string) (string, error) {
		rel, err := filepath.Rel(module, path)
		return filepath.Join("/src", rel), err
	}
	for i := range other {
		other[i] = filepath.Join(module, other[i])
	}
	for _, from := range append(other, here) {
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) == ".go" {
				return err
			}
			to, err := inGuest(path)
			files[to] = path
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return inGuest(here)
}

// guestArgs leaves out the log by which go test would know whether a result
// may be used again: what a guest did is not in this machine's files.
func guestArgs(args []string) []string {
	var kept []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-test.testlogfile=") {
			kept = append(kept, a)
		}
	}
	return kept
}

// guestEnv is a guest's environment, with this project's own variables.
func guestEnv() []string {
	env := []string{"PATH=/bin", "HOME=/", "TMPDIR=" + vmtest.ScratchDir}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "TAILTRACE_") {
			env = append(env, v)
		}
	}
	return env
}
