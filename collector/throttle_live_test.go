package collector

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	// The kernel counts each CPU of the group; one is in use.
	if ratio := float64(off) / float64(counted); ratio < 0.5 || ratio > 1.5 {
		t.Errorf("throttled for %d ns by the events, %d by the cgroup", off, counted)
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
