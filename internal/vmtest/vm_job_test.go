//go:build vmtest

package vmtest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/lab"
	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// jobCauses are those that an emulated core can have: it has no caches, so
// nothing makes it slow in all it does, and its disk answers at once.
var jobCauses = []string{
	"preempted", "waking", "lock", "sleep", "net", "stopped", "fault", "slow-step", "gc", "queued",
}

// An emulated core is a slow one: a request does more than elsewhere.
var jobPlan = lab.Plan{
	Dir:      vmtest.ScratchDir + "/job",
	Requests: 480,
	Warmup:   20,
	Seed:     1,
	PerCause: 6,
	Causes:   jobCauses,
	Min:      6 * time.Millisecond,
	Max:      8 * time.Millisecond,
	Work:     time.Millisecond,
	Gap:      time.Millisecond,
}

// The whole job: a service on a kernel of an architecture that this machine
// has not is recorded there and explained here.
func TestJob(t *testing.T) {
	host := build(t, runtime.GOARCH, "cmd/tailtrace")
	eachKernel(t, func(t *testing.T, k vmtest.Kernel) {
		tailtrace, labjob := build(t, k.Arch, "cmd/tailtrace"), build(t, k.Arch, "internal/vmtest/labjob")
		for _, cpus := range []int{2, 1} {
			t.Run(fmt.Sprintf("cpus=%d", cpus), func(t *testing.T) {
				dir := recordJob(t, k, cpus, tailtrace, labjob)
				explain := explainJob(t, host, dir)
				checkSums(t, explain)
				checkVerdicts(t, dir, explain, cpus)
			})
		}
	})
}

// recordJob runs the plan in a guest and returns the folder with what it left.
func recordJob(t *testing.T, k vmtest.Kernel, cpus int, tailtrace, labjob string) string {
	t.Helper()
	plan, err := json.Marshal(jobPlan)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	planFile := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(planFile, plan, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := guest(t, &vmtest.Guest{
		Kernel:  k,
		Options: vmtest.Options{CPUs: cpus, InstructionShift: 1},
		Job: vmtest.Job{
			Args:    []string{"/bin/labjob", "/plan.json", "/bin/tailtrace", jobPlan.Dir + "/events.bin"},
			Dir:     "/",
			Env:     []string{"TMPDIR=" + vmtest.ScratchDir},
			Results: jobPlan.Dir,
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

func explainJob(t *testing.T, host, dir string) *report.Explain {
	t.Helper()
	injected := float64(len(jobCauses) * jobPlan.PerCause)
	cmd := exec.Command(host, "explain", "events.bin", "--rows", "rows.jsonl", "--json", "-", "--all",
		"--tail", fmt.Sprintf("%.1f%%", 200*injected/float64(jobPlan.Requests)))
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var x report.Explain
	if err := json.Unmarshal(out, &x); err != nil {
		t.Fatal(err)
	}
	for _, w := range x.Warnings {
		t.Logf("warning: %s", w)
		if strings.Contains(w, "lost") || strings.Contains(w, "not observed") {
			t.Error("something is missing")
		}
	}
	return &x
}

// checkSums: the parts of each request are exactly its time.
func checkSums(t *testing.T, x *report.Explain) {
	t.Helper()
	if want := jobPlan.Requests; x.N != want {
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

// checkVerdicts: nearly every injected request is in the tail and named right.
// Two emulated CPUs take turns, and what one takes from the other no event
// shows: there the smaller part may be named otherwise.
func checkVerdicts(t *testing.T, dir string, x *report.Explain, cpus int) {
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
	var tail []lab.Named
	for _, r := range x.Requests {
		if id, ok := r.ID.(float64); ok && r.Tail {
			tail = append(tail, lab.Named{ID: uint64(id), Verdict: r.Verdict})
		}
	}
	scores := lab.ScoreVerdicts(lab.Thread, truth, tail)
	var text strings.Builder
	if err := lab.WriteScores(&text, scores); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", &text)
	if len(scores) != len(jobCauses) {
		t.Errorf("%d causes were injected, want %d", len(scores), len(jobCauses))
	}
	inTail, right := 0, 0
	for _, s := range scores {
		inTail, right = inTail+s.InTail, right+s.Right
		mayMiss := 1
		if cpus > 1 {
			mayMiss = s.Injected / 2
		}
		if s.InTail < s.Injected-1 || s.Right < s.InTail-mayMiss {
			t.Errorf("%s: %d injected, %d in the tail, %d named right; the others %v", s.Cause, s.Injected, s.InTail, s.Right, s.Missed)
		}
	}
	if 4*right < 3*inTail {
		t.Errorf("%d of %d named right", right, inTail)
	}
}
