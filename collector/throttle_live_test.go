package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestQuotaThatIsUsedUpShowsAsThrottled(t *testing.T) {
	testenv.Root(t)
	group := limitedCgroup(t) // first, so that it goes last
	c := startChild(t, "busy")
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, c.pid), 0o644); err != nil {
		t.Fatal(err)
	}
	pinProcess(t, c.pid) // the kernel counts each CPU that the group uses
	c.tell()
	tid := int32(c.hearNumbers()[0])
	rec := recordLive(t, Config{Pids: []int{c.pid}}, func() { time.Sleep(time.Second) })
	throttled := 0
	var off int64
	for _, s := range rec.offCPU(tid) {
		if s.out.Flags&eventfile.FlagThrottled != 0 {
			throttled++
			off += int64(s.to - s.from)
			if s.out.State != eventfile.StateRunning {
				t.Errorf("throttled in state %#x", s.out.State)
			}
		}
	}
	if throttled < 3 {
		t.Fatalf("throttled %d times in 1 s, want 10 or about", throttled)
	}
	var counted int64
	var last eventfile.Time
	for _, e := range rec.events {
		if e.Kind == eventfile.KindSwitch {
			last = e.Time
		}
	}
	for _, b := range rec.boxes {
		if b.Time <= last { // detaching takes its time
			counted += b.Throttled
		}
	}
	if ratio := float64(off) / float64(counted); ratio < 0.5 || ratio > 1.5 {
		t.Errorf("throttled for %d ns by the events, %d by the cgroup", off, counted)
	}
}

// pinProcess gives all threads of a process the first CPU that it may use.
func pinProcess(t *testing.T, pid int) {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !set.IsSet(first) {
		first++
	}
	set.Zero()
	set.Set(first)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if err := unix.SchedSetaffinity(int(number(t, task.Name())), &set); err != nil {
			t.Fatal(err)
		}
	}
}

// limitedCgroup makes a cgroup that has a fifth of a CPU.
func limitedCgroup(t *testing.T) (dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	v2, v1 := cgroupMounts(string(mounts))
	root, files := v1, map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"}
	if v1 == "" {
		root, files = v2, map[string]string{"cpu.max": "20000 100000"}
	}
	dir = filepath.Join(root, fmt.Sprintf("tailtrace-test-%d", os.Getpid()))
	testenv.Need(t, root != "" && os.Mkdir(dir, 0o755) == nil, "a cgroup of its own")
	t.Cleanup(func() {
		eventually(t, "the cgroup to go", func() bool { return os.Remove(dir) == nil })
	})
	for name, value := range files {
		err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o644)
		testenv.Need(t, err == nil, "a CPU quota")
	}
	return dir
}
