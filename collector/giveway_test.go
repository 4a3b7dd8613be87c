package collector

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestGiveWay runs in a process of its own: the policy cannot be taken back by
// one without rights.
func TestGiveWayMakesEveryThreadABatchTask(t *testing.T) {
	if os.Getenv("TAILTRACE_GIVE_WAY") == "1" {
		if err := GiveWay(); err != nil {
			t.Fatal(err)
		}
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, th := range threads {
			stat, err := os.ReadFile("/proc/self/task/" + th.Name() + "/stat")
			if err != nil {
				continue // it has ended
			}
			// Field 41 of stat(5), counted after the name, is the policy.
			_, rest, _ := strings.Cut(string(stat), ") ")
			if got := strings.Fields(rest)[41-3]; got != "3" {
				t.Errorf("thread %s has policy %s, want 3 (SCHED_BATCH)", th.Name(), got)
			}
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestGiveWay", "-test.v")
	cmd.Env = append(cmd.Environ(), "TAILTRACE_GIVE_WAY=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
