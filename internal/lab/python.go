package lab

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tailtrace/tailtrace/ring/python"
)

//go:embed service.py
var serviceSource []byte

// interpreter runs the service of the shape Asyncio.
const interpreter = "python3"

func needPython() error {
	cmd := exec.Command(interpreter, "-c", "import sys; assert sys.version_info >= (3, 9)")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s 3.9 or later: %w", interpreter, err)
	}
	return nil
}

// unpackService writes the Python service below dir and returns the command
// that runs it.
func unpackService(dir string) (command []string, remove func() error, err error) {
	dir, err = os.MkdirTemp(dir, "lab-python-")
	if err != nil {
		return nil, nil, fmt.Errorf("unpack the Python service: %w", err)
	}
	remove = func() error { return os.RemoveAll(dir) }
	main := filepath.Join(dir, "service.py")
	err = errors.Join(
		os.WriteFile(main, serviceSource, 0o600),
		os.WriteFile(filepath.Join(dir, "tailtrace_ring.py"), python.Source, 0o600))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("unpack the Python service: %w", err), remove())
	}
	return []string{interpreter, main}, remove, nil
}
