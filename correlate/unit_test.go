package correlate

import (
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/timeline"
)

func TestCgroupsAreNamedAsPeopleKnowThem(t *testing.T) {
	id := strings.Repeat("abcdef12", 8)
	for cgroup, want := range map[string]string{
		"":                               "",
		"/":                              "",
		"/system.slice/scorer.service":   "scorer.service",
		`/system.slice/a\x2db.service`:   "a-b.service",
		"/system.slice/scorer.service/x": "scorer.service",
		"/user.slice/user-1000.slice/session-3.scope":                               "session-3.scope",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service":   "firefox.service",
		"/system.slice/docker-" + id + ".scope":                                     "container abcdef12abcd",
		"/docker/" + id:                                                             "container abcdef12abcd",
		"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + id + ".scope":       "container abcdef12abcd",
		"/machine.slice/libpod-" + id + ".scope/container":                          "container abcdef12abcd",
		"/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" + id: "container abcdef12abcd",
		"/bench/quota": "cgroup /bench/quota",
	} {
		if got := unitName(cgroup); got != want {
			t.Errorf("%q is %q, want %q", cgroup, got, want)
		}
	}
}

func TestKernelThreadsAreNamedForWhatTheyDo(t *testing.T) {
	for comm, want := range map[string]string{
		"ksoftirqd/3": "kernel thread: softirqs put off", "kworker/u8:2-events": "kernel thread: queued work",
		"migration/0": "kernel thread: moves tasks between CPUs", "kswapd0": "kernel thread: reclaims memory", "scsi_eh_0": "kernel thread",
	} {
		if got := kernelThread(&timeline.Task{Comm: comm, Kthread: true}); got != want {
			t.Errorf("%s is %q, want %q", comm, got, want)
		}
	}
}
