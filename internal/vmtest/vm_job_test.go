//go:build vmtest

package vmtest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/lab"
	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// jobPlan has the causes that an emulated core can have: it has no caches, so
// nothing makes it slow in all it does, and its disk answers at once. It counts
// instructions on arm64 only, where it goes by them. And it is a slow one: a request does more than
// elsewhere. Of two CPUs that take turns the quota's end often comes to nothing.
func jobPlan(arch string, cpus int) lab.Plan {
	causes := []string{"preempted", "waking", "lock", "sleep", "net", "stopped", "fault", "slow-step", "gc", "queued"}
	if cpus == 1 {
		causes = append(causes, "throttled")
		if arch == "arm64" {
			causes = append(causes, "more-work")
		}
	}
	return lab.Plan{
		Dir:      vmtest.ScratchDir + "/job",
		Requests: 48 * len(causes),
		Warmup:   20,
		Seed:     1,
		PerCause: 6,
		Causes:   causes,
		Min:      6 * time.Millisecond,
		Max:      8 * time.Millisecond,
		Work:     time.Millisecond,
		Gap:      time.Millisecond,
	}
}

// The whole job: a service on a kernel of an architecture that this machine
// has not is recorded there and explained here.
func TestJob(t *testing.T) { testJob(t, []int{2, 1}) }

// The same on kernels taken as ones that do not know their types: a file has
// them.
func TestJobWithoutTypes(t *testing.T) { testJob(t, []int{1}, "--btf", "/sys/kernel/btf/vmlinux") }

func testJob(t *testing.T, cpus []int, flags ...string) {
	host := build(t, runtime.GOARCH, "cmd/tailtrace")
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		tailtrace, labjob := build(t, k.Arch, "cmd/tailtrace"), build(t, k.Arch, "internal/vmtest/labjob")
		for _, cpus := range cpus {
			t.Run(fmt.Sprintf("cpus=%d", cpus), func(t *testing.T) {
				// By the count of instructions two CPUs take turns so coarsely that
				// waits of milliseconds come about, and old x86 ones do not boot.
				o := vmtest.Options{CPUs: cpus}
				if cpus == 1 {
					o.InstructionShift = 1
				}
				plan := jobPlan(k.Arch, cpus)
				dir := recordJob(t, k, o, plan, tailtrace, labjob, flags...)
				x := explainJob(t, host, dir, plan)
				checkSums(t, x, plan.Requests)
				checkVerdicts(t, dir, x, plan, cpus)
				if cpus == 1 {
					checkQuota(t, x)
				}
			})
		}
	})
}

// recordJob runs the plan in a guest and returns the folder with what it left.
func recordJob(t *testing.T, k vmtest.Kernel, o vmtest.Options, plan lab.Plan, tailtrace, labjob string, flags ...string) string {
	t.Helper()
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planFile := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(planFile, text, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := guest(t, &vmtest.Guest{
		Kernel:  k,
		Options: o,
		Job: vmtest.Job{
			Args:    append([]string{"/bin/labjob", "/plan.json", "/bin/tailtrace", plan.Dir + "/events.bin"}, flags...),
			Dir:     "/",
			Env:     []string{"TMPDIR=" + vmtest.ScratchDir},
			Results: plan.Dir,
		},
		Files:   map[string]string{"/bin/labjob": labjob, "/bin/tailtrace": tailtrace, "/plan.json": planFile},
		Results: dir,
	}, 10*time.Minute)
	t.Logf("the guest said:\n%s", out)
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	return dir
}

func explainJob(t *testing.T, host, dir string, plan lab.Plan) *report.Explain {
	t.Helper()
	injected := float64(len(plan.Causes) * plan.PerCause)
	x := explain(t, host, dir, "--rows", "rows.jsonl", "--tail", fmt.Sprintf("%.1f%%", 200*injected/float64(plan.Requests)))
	for _, w := range x.Warnings {
		t.Logf("warning: %s", w)
		missing := strings.Contains(w, "lost") && !strings.Contains(w, hiddenFaults) || strings.Contains(w, "not observed")
		if missing && !strings.HasPrefix(w, "not observed: pmu ") { // which amd64 has not
			t.Error("something is missing")
		}
	}
	return x
}

// hiddenFaults is in the warning of page faults that the kernel did not show.
const hiddenFaults = "ran no program for them"

// explain explains events.bin in a folder.
func explain(t *testing.T, host, dir string, flags ...string) *report.Explain {
	t.Helper()
	cmd := exec.Command(host, append([]string{"explain", "events.bin", "--json", "-", "--all"}, flags...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var x report.Explain
	if err := json.Unmarshal(out, &x); err != nil {
		t.Fatal(err)
	}
	return &x
}

// checkSums: the parts of each of want requests are exactly its time.
func checkSums(t *testing.T, x *report.Explain, want int) {
	t.Helper()
	if x.N != want {
		t.Errorf("%d requests are explained, want %d", x.N, want)
	}
	for _, r := range x.Requests {
		var sum int64
		for name, ns := range r.Parts {
			if ns < 0 {
				t.Errorf("request %v: %s is %d ns", r.ID, name, ns)
			}
			sum += ns
		}
		if sum != r.Latency {
			t.Errorf("request %v: the parts sum to %d ns of %d", r.ID, sum, r.Latency)
		}
	}
}

// tailOf says how the tail's requests were named. Where mixing is allowed, a
// mixed one with its injected cause among the parts has that name.
func tailOf(x *report.Explain, truth []lab.Truth, mixing bool) (tail []lab.Named) {
	causes := map[uint64]string{}
	for i := range truth {
		causes[truth[i].ID] = truth[i].Cause
	}
	for _, r := range x.Requests {
		f, ok := r.ID.(float64)
		if !ok || !r.Tail {
			continue
		}
		n := lab.Named{ID: uint64(f), Verdict: r.Verdict}
		if cause := causes[n.ID]; mixing && r.Verdict == correlate.VerdictMixed && slices.Contains(r.Mixed, cause) {
			n.Verdict = cause
		}
		tail = append(tail, n)
	}
	return tail
}

// checkQuota: the evidence of being throttled names the lab's cgroup, of version
// 2 in guests, and has the kernel's count.
func checkQuota(t *testing.T, x *report.Explain) {
	t.Helper()
	named, counted := 0, 0
	for i := range x.Requests {
		r := &x.Requests[i]
		if r.Verdict != "throttled" {
			continue
		}
		j := slices.IndexFunc(r.Evidence, func(e correlate.Evidence) bool { return e.What == correlate.EvidenceThrottled })
		if j < 0 || !strings.Contains(r.Evidence[j].Cgroup, "/tailtrace-lab-") {
			t.Errorf("request %v is throttled by the evidence %+v", r.ID, r.Evidence)
			continue
		}
		named++
		if v := r.Evidence[j].Value; v != nil && *v > 0 {
			counted++
		}
	}
	if counted == 0 {
		t.Errorf("the kernel's count proves none of %d throttled requests", named)
	}
}

// checkVerdicts: nearly every injected request is in the tail and named right.
// Two emulated CPUs take turns, and what one takes from the other no event
// shows, so that it is running. There what was injected may be mixed with other
// time, and a quarter may be named otherwise, beside those requests of which the
// kernel's counts say that something else happened too.
func checkVerdicts(t *testing.T, dir string, x *report.Explain, plan lab.Plan, cpus int) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := lab.ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	scores := lab.ScoreVerdicts(lab.Thread, truth, tailOf(x, truth, cpus > 1))
	var text strings.Builder
	if err := lab.WriteScores(&text, scores); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &text)
	if len(scores) != len(plan.Causes) {
		t.Errorf("%d causes were injected, want %d", len(scores), len(plan.Causes))
	}
	fair, right := 0, 0
	for _, s := range scores {
		fair, right = fair+s.InTail-s.Disturbed, right+s.Right
		if cpus == 1 && (s.InTail < s.Injected-1 || s.Right < s.InTail-s.Disturbed-1) {
			t.Errorf("%s: %d injected, %d in the tail, %d named right; the others %v", s.Cause, s.Injected, s.InTail, s.Right, s.Missed)
		}
	}
	if 4*right < 3*fair {
		t.Errorf("%d of %d named right", right, fair)
	}
}
