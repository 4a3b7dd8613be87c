package collector

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// throttleReader sums for how long a process's cgroup and those above it, any
// of which may have a quota, were throttled.
type throttleReader struct {
	files []*procFile
	key   string
	unit  int64 // ns
}

// openThrottle finds the cpu.stat files of a process. One that has none, as in
// the root cgroup, gets a reader that says absent.
func openThrottle(pid int32) *throttleReader {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/cgroup")
	if err != nil {
		return &throttleReader{}
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return &throttleReader{}
	}
	paths := parseCgroup(string(raw))
	v2, v1 := cgroupMounts(string(mounts))
	if v1 != "" && paths.cpu != "" {
		return newThrottleReader(v1, paths.cpu, "throttled_time", 1)
	}
	return newThrottleReader(v2, paths.unified, "throttled_usec", 1000)
}

func newThrottleReader(mount, path, key string, unit int64) *throttleReader {
	t := &throttleReader{key: key, unit: unit}
	if mount == "" {
		return t
	}
	for path := filepath.Clean("/" + path); path != "/"; path = filepath.Dir(path) {
		if f, err := openProcFile(filepath.Join(mount, path, "cpu.stat")); err == nil {
			t.files = append(t.files, f)
		}
	}
	return t
}

// cgroupMounts returns where version 2 and the cpu controller of version 1
// are mounted, from the text of /proc/self/mounts.
func cgroupMounts(mounts string) (v2, v1 string) {
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		switch {
		case f[2] == "cgroup2" && v2 == "":
			v2 = f[1]
		case f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,"):
			v1 = f[1]
		}
	}
	return v2, v1
}

// read returns the sum since boot, ns, or absent.
func (t *throttleReader) read() int64 {
	var sum, found int64
	for _, f := range t.files {
		text, err := f.read()
		if err != nil {
			continue // the cgroup is gone
		}
		if n := parseKeyed(text, t.key); n >= 0 {
			sum += n * t.unit
			found++
		}
	}
	if found == 0 {
		return absent
	}
	return sum
}

func (t *throttleReader) close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
