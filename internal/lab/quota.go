package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// quota is a cgroup that may use a CPU for quotaRuns of every quotaPeriod.
// Real-time threads in it have the CPU for as long as they want: the service
// is bound by the quota only while it is an ordinary process.
type quota struct{ dir string }

const (
	quotaRuns   = time.Millisecond // the least that there is
	quotaPeriod = 8 * time.Millisecond
	quotaPrefix = "tailtrace-lab-" // and the pid of who made it
)

// realtimeShare is there where real-time shares are counted by cgroup.
const realtimeShare = "cpu.rt_runtime_us"

var errNoQuota = errors.New("no cgroup with a cpu controller is mounted")

// newQuota makes the cgroup, by version 1 or 2, whichever has the controller.
func newQuota() (*quota, error) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, fmt.Errorf("find cgroups: %w", err)
	}
	problem := errNoQuota
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		var files []quotaFile
		switch {
		case f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,"):
			files = quotaFilesV1()
		case f[2] == "cgroup2" && hasWord(filepath.Join(f[1], "cgroup.subtree_control"), "cpu"):
			files = quotaFilesV2()
		default:
			continue
		}
		sweepQuotas(f[1])
		q := &quota{filepath.Join(f[1], quotaPrefix+strconv.Itoa(os.Getpid()))}
		if problem = q.make(files); problem == nil {
			return q, nil
		}
	}
	return nil, problem
}

type quotaFile struct {
	name     string
	value    string
	optional bool // not every kernel has it
}

func quotaFilesV1() []quotaFile {
	return []quotaFile{
		{name: "cpu.cfs_period_us", value: fmt.Sprint(quotaPeriod.Microseconds())},
		{name: "cpu.cfs_quota_us", value: fmt.Sprint(quotaRuns.Microseconds())},
		// Without a share the service could not be real-time.
		{name: realtimeShare, value: "900000", optional: true},
		{name: "cpu.shares", value: "262144"},
	}
}

func quotaFilesV2() []quotaFile {
	return []quotaFile{
		{name: "cpu.max", value: fmt.Sprint(quotaRuns.Microseconds(), quotaPeriod.Microseconds())},
		{name: "cpu.weight", value: "10000"},
	}
}

func (q *quota) make(files []quotaFile) error {
	if err := os.Mkdir(q.dir, 0o755); err != nil {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	for _, f := range files {
		path := filepath.Join(q.dir, f.name)
		if _, err := os.Stat(path); f.optional && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := writeSoon(path, f.value); err != nil {
			return errors.Join(fmt.Errorf("limit a cgroup: %w", err), q.remove())
		}
	}
	return nil
}

// writeSoon writes to a file of a cgroup. A share that another one has just had
// is free a moment later.
func writeSoon(path, value string) (err error) {
	for range 20 {
		if err = os.WriteFile(path, []byte(value), 0); !errors.Is(err, unix.EINVAL) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// sweepQuotas removes what killed processes left in a hierarchy.
func sweepQuotas(mount string) {
	left, err := filepath.Glob(filepath.Join(mount, quotaPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), quotaPrefix))
		if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			os.Remove(dir)
		}
	}
}

// joinQuota moves this process into the cgroup dir.
func joinQuota(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0); err != nil {
		return fmt.Errorf("join the cgroup with the quota: %w", err)
	}
	return nil
}

// remove removes the cgroup once its processes have gone, which takes the
// kernel a moment after they have been waited for.
func (q *quota) remove() error {
	if q == nil {
		return nil
	}
	var err error
	for range 100 {
		// Otherwise its share is not free for others at once.
		_ = os.WriteFile(filepath.Join(q.dir, realtimeShare), []byte("0"), 0)
		if err = os.Remove(q.dir); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("remove the cgroup with the quota: %w", err)
	}
	return nil
}

func hasWord(path, word string) bool {
	b, err := os.ReadFile(path)
	return err == nil && strings.Contains(" "+strings.TrimSpace(string(b))+" ", " "+word+" ")
}
