package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/correlate/report"
	"github.com/tailtrace/tailtrace/internal/lab"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// build makes the real binary: the demo runs it again in other roles, and a
// recorder that is killed must be a process of its own.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "tailtrace")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func readExplain(t *testing.T, path string) *report.Explain {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var x report.Explain
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	if x.Schema != "tailtrace.explain/1" {
		t.Fatalf("schema %q", x.Schema)
	}
	return &x
}

// checkExplain holds what every report must: parts sum exactly, verdicts sum to
// the tail.
func checkExplain(t *testing.T, x *report.Explain) {
	t.Helper()
	for _, r := range x.Requests {
		var sum int64
		for p, ns := range r.Parts {
			if ns < 0 {
				t.Errorf("request %v: %s is %d ns", r.ID, p, ns)
			}
			sum += ns
		}
		if sum != r.Latency {
			t.Errorf("request %v: parts sum to %d ns of %d", r.ID, sum, r.Latency)
		}
	}
	verdicts := 0
	for _, v := range x.Verdicts {
		verdicts += v.Count
	}
	if verdicts != x.Tail.Count {
		t.Errorf("%d verdicts for a tail of %d", verdicts, x.Tail.Count)
	}
	for _, w := range x.Warnings {
		hidden := strings.Contains(w, "ran no program for them") // by the kernel, which others' use of BPF can bring about
		if strings.Contains(w, "lost") && !hidden || lacks(w, "not observed") {
			t.Errorf("warning: %s", w)
		}
	}
}

// TestDemoNamesWhatItInjected is the claim itself: causes injected by the lab,
// found by tailtrace from the kernel's events alone.
func TestDemoNamesWhatItInjected(t *testing.T) {
	testenv.Root(t)
	dir := t.TempDir()
	t.Log("\n" + run(t, build(t), "demo", "--dir", dir, "--per-cause", "10", "--requests", "7000"))
	x := readExplain(t, filepath.Join(dir, "explain.json"))
	checkExplain(t, x)
	truth, err := readTruth(filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var tail []lab.Named
	for _, r := range x.Requests {
		tail = append(tail, lab.Named{ID: uint64(r.ID.(float64)), Verdict: r.Verdict})
	}
	scores := lab.ScoreVerdicts(lab.Thread, truth, tail)
	if len(scores) < 10 {
		t.Errorf("only %d causes were injected", len(scores))
	}
	for _, s := range scores {
		if s.InTail < 5 {
			t.Errorf("%s: only %d of %d injected requests are in the tail", s.Cause, s.InTail, s.Injected)
		}
		if 10*s.Right < 9*s.InTail {
			t.Errorf("%s: %d of %d named right; the others %v", s.Cause, s.Right, s.InTail, s.Missed)
		}
	}
}

// TestScorerIsExplained runs the three documented commands on the real service.
func TestScorerIsExplained(t *testing.T) {
	testenv.Root(t)
	python := "/usr/bin/python3"
	testenv.Need(t, exec.Command(python, "-c", "import fastapi, uvicorn, uvloop, httptools, sklearn").Run() == nil,
		"python3-fastapi, uvicorn, python3-uvloop, python3-httptools, python3-sklearn")
	dir := t.TempDir()
	cmd := exec.Command("../../examples/scorer/run.sh")
	cmd.Env = append(cmd.Environ(), "REQUESTS=3000", "OUT="+dir, "TAILTRACE="+build(t), "PYTHON="+python)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run.sh: %v\n%s", err, out)
	}
	x := readExplain(t, filepath.Join(dir, "explain.json"))
	checkExplain(t, x)
	if x.N != 3000 || x.Errors != 0 || x.Tail.Count != 30 || x.Joined != x.N+x.Warmup {
		t.Errorf("n %d, errors %d, tail %d, joined %d with %d warm-up", x.N, x.Errors, x.Tail.Count, x.Joined, x.Warmup)
	}
	for _, r := range x.Requests {
		if r.Kind == "" || r.Tid == 0 || r.Parts["running"] == 0 {
			t.Errorf("request %v: kind %q, tid %d, running %d ns", r.ID, r.Kind, r.Tid, r.Parts["running"])
		}
	}
	for _, want := range []string{"why the tail is slow", "unexplained", "the slowest", "seconds with requests:", "(before) on CPU"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
}
