package collector

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

var somePids = map[string]string{
	"10/status":  "Name:\tscorer\nState:\tS (sleeping)\nTgid:\t10\nPid:\t10\nThreads:\t4\n",
	"10/comm":    "scorer\n",
	"10/cmdline": "python3\x00scorer.py\x00--port\x008080\x00",
	"10/cgroup":  "0::/system.slice/scorer.service\n",
	"11/status":  "Name:\tworker\nState:\tS (sleeping)\nTgid:\t10\nPid:\t11\nThreads:\t4\n",
	"12/status":  "Name:\tdone\nState:\tZ (zombie)\nTgid:\t12\nPid:\t12\nThreads:\t1\n",
	"13/status":  "Name:\tleader\nState:\tZ (zombie)\nTgid:\t13\nPid:\t13\nThreads:\t3\n",
	"13/comm":    "leader\n",
	"14/status":  "Name:\tkworker\nState:\tI (idle)\nTgid:\t14\nKthread:\t1\nThreads:\t1\n",
	"14/comm":    "kworker/0:1\n",
}

func TestTargetsAreDescribedOnce(t *testing.T) {
	got, err := resolver{fakeProc(t, somePids)}.targets([]int{10, 13, 10})
	if err != nil {
		t.Fatal(err)
	}
	want := []eventfile.Target{
		{Pid: 10, Comm: "scorer", Cmdline: "python3 scorer.py --port 8080", Cgroup: "/system.slice/scorer.service"},
		{Pid: 13, Comm: "leader"}, // its first thread has ended, others have not
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWrongPidsAreNamed(t *testing.T) {
	r := resolver{fakeProc(t, somePids)}
	for name, c := range map[string]struct {
		pids []int
		want string
	}{
		"none":          {nil, "no pid given"},
		"gone":          {[]int{10, 99}, "process 99: no such process"},
		"zero":          {[]int{0}, "process 0: no such process"},
		"thread":        {[]int{11}, "process 11: it is a thread of process 10 (scorer)"},
		"zombie":        {[]int{12}, "process 12: it has ended"},
		"kernel thread": {[]int{14}, "process 14: it is a kernel thread (kworker/0:1)"},
	} {
		if _, err := r.targets(c.pids); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var thread *ThreadError
	if _, err := r.targets([]int{11}); !errors.As(err, &thread) || thread.Pid != 10 {
		t.Errorf("a thread's error does not say which process: %v", err)
	}
	var gone *NoProcessError
	if _, err := r.targets([]int{99}); !errors.As(err, &gone) || gone.Pid != 99 {
		t.Errorf("a dead pid's error does not say which: %v", err)
	}
}

func TestDescendantsAreChildrenAndTheirs(t *testing.T) {
	stat := func(comm string, parent int) string {
		return fmt.Sprintf("1 (%s) S %d 0 0 0 0 0 0 0 0 0 0 0 0 0\n", comm, parent)
	}
	r := resolver{fakeProc(t, map[string]string{
		"1/stat":                            stat("init", 0),
		"10/stat":                           stat("master", 1),
		"11/stat":                           stat("worker) 1 (", 10),
		"12/stat":                           stat("worker", 10),
		"13/stat":                           stat("helper", 12),
		"14/stat":                           stat("another's", 1),
		"self":                              "",
		fmt.Sprintf("%d/stat", os.Getpid()): stat("this", 10),
	})}
	for name, c := range map[string]struct{ pids, want []int32 }{
		"of a family":         {[]int32{10}, []int32{11, 12, 13}},
		"of one and its own":  {[]int32{10, 12}, []int32{11, 12, 13}},
		"of one without any":  {[]int32{13}, nil},
		"of one that is gone": {[]int32{99}, nil},
	} {
		got := r.descendants(c.pids)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLivingAndDeadOnTheRealProc(t *testing.T) {
	r := resolver{"/proc"}
	if !r.alive(int32(os.Getpid())) {
		t.Error("this process is taken for dead")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{napEnv + "=1ms"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the zombie to be taken for dead", func() bool { return !r.alive(int32(cmd.Process.Pid)) })
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if r.alive(int32(cmd.Process.Pid)) {
		t.Error("a reaped process is taken for alive")
	}
}

func TestOwnerOfAMutexIsAThreadOfItsProcess(t *testing.T) {
	o := newOwnerResolver(newTaskCache())
	o.root = fakeProc(t, map[string]string{
		"10/task/10/status": "NSpid:\t10\n",
		"10/task/11/status": "NSpid:\t11\n",
		"50/task/50/status": "NSpid:\t50\t1\n", // in a container
		"50/task/51/status": "NSpid:\t51\t7\n",
	})
	o.tasks.see(task(12, 10, 1, "ended", 0), 0)
	o.tasks.see(task(7, 50, 1, "another 7", 0), 0)
	for _, c := range []struct{ pid, word, want int32 }{
		{10, 11, 11},
		{10, 12, 12}, // known from events alone
		{10, 50, 0},  // of another process
		{10, 0, 0},
		{10, -5, 0},
		{50, 7, 51},
		{50, 1, 50},
		{50, 51, 0}, // not a number that the process could see
		{99, 99, 0},
	} {
		if got := o.resolve(c.pid, c.word, 1); got != c.want {
			t.Errorf("owner %d in process %d is thread %d, want %d", c.word, c.pid, got, c.want)
		}
	}
}

func TestProcessesAreNamedOnceAndAgainAfterExec(t *testing.T) {
	p := newProcNamer(10, false)
	p.root = fakeProc(t, somePids)
	round := func() (got []eventfile.Proc) {
		err := p.round(procsPerRound, func(proc *eventfile.Proc) error { got = append(got, *proc); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	see := func(id *bpf.KernelTaskId, isNew bool) { p.see(id, isNew) }
	see(task(11, 10, 1, "worker", 0), true)
	see(task(10, 10, 1, "scorer", 0), true)
	see(task(77, 77, 1, "gone", eventfile.FlagTarget), true)
	see(task(14, 14, 1, "kworker", eventfile.FlagKthread), true)
	want := []eventfile.Proc{
		{Pid: 10, Comm: "scorer", Cmdline: "python3 scorer.py --port 8080", Cgroup: "/system.slice/scorer.service", Self: true},
		{Pid: 77, Comm: "gone", Target: true},
	}
	if diff := cmp.Diff(want, round()); diff != "" {
		t.Error(diff)
	}
	see(task(11, 10, 1, "worker 2", 0), true)
	see(task(10, 10, 1, "scorer", 0), false)
	if got := round(); len(got) != 0 {
		t.Errorf("named again: %+v", got)
	}
	see(task(10, 10, 1, "another", 0), true)
	if got := round(); len(got) != 1 {
		t.Errorf("a leader of another name is named as %+v", got)
	}
}

func TestCommandLinesOfOthersCanBeLeftOut(t *testing.T) {
	for _, bare := range []bool{false, true} {
		for _, c := range []struct {
			self  int32
			flags eventfile.Flags
			want  bool
		}{
			{10, 0, true},
			{1, eventfile.FlagTarget, true},
			{1, 0, !bare},
		} {
			p := newProcNamer(c.self, bare)
			p.root = fakeProc(t, somePids)
			p.see(task(10, 10, 1, "scorer", c.flags), true)
			if err := p.round(1, func(proc *eventfile.Proc) error {
				if got := proc.Cmdline != ""; got != c.want || proc.Comm != "scorer" || proc.Cgroup == "" {
					t.Errorf("without others' %t: %+v", bare, proc)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
