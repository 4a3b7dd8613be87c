package vmtest

import (
	"os"
	"os/exec"
	"path/filepath"
)

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
