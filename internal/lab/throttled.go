package lab

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// throttleMeter tells waits for a cgroup's quota from others. It counts; the
// time that the kernel counts can be too short by a tick of its clock.
type throttleMeter struct {
	fd   int
	text [1024]byte
	seen int64
}

func newThrottleMeter(dir string) (*throttleMeter, error) {
	path := filepath.Join(dir, "cpu.stat")
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	m := &throttleMeter{fd: fd}
	_, err = m.throttled()
	return m, err
}

// throttled reports whether the cgroup was throttled since it was last asked.
func (m *throttleMeter) throttled() (bool, error) {
	n, err := rawReadAt(m.fd, m.text[:], 0)
	if err != nil {
		return false, err
	}
	for line := range bytes.Lines(m.text[:n]) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if string(name) != "nr_throttled" {
			continue
		}
		periods, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return false, fmt.Errorf("read how often the cgroup was throttled: %w", err)
		}
		before := m.seen
		m.seen = periods
		return periods > before, nil
	}
	return false, errors.New("read how often the cgroup was throttled: it does not say")
}
