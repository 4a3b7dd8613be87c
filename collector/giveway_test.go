package collector

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGiveWay runs in a process of its own: without rights the policy cannot be
// taken back.
func TestGiveWayMakesEveryThreadStandBack(t *testing.T) {
	if os.Getenv("TAILTRACE_GIVE_WAY") == "1" {
		checkStandsBack(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestGiveWay", "-test.v")
	cmd.Env = append(cmd.Environ(), "TAILTRACE_GIVE_WAY=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func checkStandsBack(t *testing.T) {
	if err := GiveWay(); err != nil {
		t.Fatal(err)
	}
	policy, err := politePolicy()
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint32]string{unix.SCHED_IDLE: "0 5", unix.SCHED_BATCH: "10 3"}[policy]
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		stat, err := os.ReadFile("/proc/self/task/" + th.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// Of stat(5), counted after the name: field 19 is the nice value,
		// 41 the policy.
		_, rest, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(rest)
		if got := f[19-3] + " " + f[41-3]; got != want {
			t.Errorf("thread %s has nice and policy %s, want %s", th.Name(), got, want)
		}
	}
}
