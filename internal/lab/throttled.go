package lab

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// throttleMeter reads for how long a cgroup has been throttled.
type throttleMeter struct {
	fd   int
	text [1024]byte
}

func newThrottleMeter(dir string) (*throttleMeter, error) {
	path := filepath.Join(dir, "cpu.stat")
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &throttleMeter{fd: fd}, nil
}

// read returns the time so far, ns.
func (m *throttleMeter) read() (int64, error) {
	n, err := rawReadAt(m.fd, m.text[:], 0)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(m.text[:n]) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		unit := map[string]int64{"throttled_time": 1, "throttled_usec": 1000}[string(name)]
		if unit == 0 {
			continue
		}
		ns, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read the throttled time: %w", err)
		}
		return ns * unit, nil
	}
	return 0, errors.New("read the throttled time: the cgroup does not say")
}
