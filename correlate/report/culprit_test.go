package report

import (
	"testing"

	"github.com/tailtrace/tailtrace/correlate"
)

func TestCulpritNamesWhatIsBehindTheVerdict(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	tests := map[string]struct {
		r    Request
		want string
	}{
		"occupant of the verdict's part, not of another": {
			Request{Verdict: "preempted", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceOccupant, Part: "waking", Name: "other", Tid: 9, NS: 9e6},
				{What: correlate.EvidenceOccupant, Part: "preempted", Name: "hog", Pid: 7, Tid: 8, NS: 4_100_000},
			}},
			"hog[7/8] had the CPU for 4.10 ms",
		},
		"lock with its holder": {
			Request{Verdict: "lock", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceWait, Part: "lock", Name: "futex", NS: 5e6, Count: 2},
				{What: correlate.EvidenceHolder, Part: "lock", Name: "worker", Pid: 5, Tid: 5, NS: 5e6},
			}},
			"held by worker[5]; futex x2, 5.00 ms",
		},
		"lock with what its holder did": {
			Request{Verdict: "lock", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceHolder, Part: "lock", Name: "worker", Pid: 5, Tid: 5, NS: 5e6},
				{What: correlate.EvidenceWaker, Part: "lock", Name: "worker", Pid: 5, Tid: 5, NS: 5e6},
				{What: correlate.EvidenceHolderWas, Part: "lock", Name: "worker", Tid: 5, NS: 4e6, Context: "in fsync (io)", Request: "17"},
			}},
			"held by worker[5]; which was in fsync (io) for 4.00 ms in request 17",
		},
		"who held up a convoy, not who passed the lock on": {
			Request{Verdict: "lock", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceWait, Part: "lock", Name: "futex", NS: 9e6, Count: 1},
				{What: correlate.EvidenceWaker, Part: "lock", Name: "pool", Pid: 5, Tid: 6, NS: 9e6},
				{What: correlate.EvidenceWakerWas, Part: "lock", Name: "pool", Pid: 5, Tid: 6, NS: 8e6, Context: "in futex (lock)", State: "lock", Request: "17"},
				{What: correlate.EvidenceWakerWas, Part: "lock", Name: "pool", Pid: 5, Tid: 7, NS: 7e6, Context: "running", State: "running", Depth: 1,
					Request: "16", Step: "lookup", Calls: []string{"libdb.so.1", "db_step", "[calls missing]", "main", "_start", "more"}, Count: 7},
			}},
			"futex, 9.00 ms; woken by pool[5/6]; meanwhile pool[5/7] was running for 7.00 ms in request 16, step lookup, at libdb.so.1 < db_step < ... < main",
		},
		"an interrupt is never a task": {
			Request{Verdict: "sleep", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceWait, Part: "sleep", Name: "nanosleep", NS: 12e6, Count: 1},
				{What: correlate.EvidenceWaker, Part: "sleep", Context: "hardirq", NS: 12e6},
			}},
			"nanosleep, 12.00 ms; woken in hardirq context",
		},
		"slow core with its surroundings": {
			Request{Verdict: "slow-core", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceStretch, Value: f(1.7), Normal: f(1)},
				{What: correlate.EvidenceOtherCPUs, Value: f(0.98), Normal: f(0.1)},
			}},
			"ran 1.70 times the normal time; other CPUs 98% busy (normal 10%)",
		},
		"figures that are as normal say nothing": {
			Request{Verdict: "slow-core", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceStretch, Value: f(1.7), Normal: f(1)},
				{What: correlate.EvidenceOtherCPUs, Value: f(1), Normal: f(0.99)},
				{What: correlate.EvidenceOtherTask, Name: "innocent", Tid: 7, Count: 9},
			}},
			"ran 1.70 times the normal time",
		},
		"mixed shows each of its parts": {
			Request{Verdict: "mixed", Mixed: []string{"softirq", "preempted"}, Evidence: []correlate.Evidence{
				{What: correlate.EvidenceInterrupt, Part: "softirq", Name: "NET_RX", NS: 90_000, Count: 3},
				{What: correlate.EvidenceOccupant, Part: "preempted", Name: "a b", Tid: 4, Pid: 4, NS: 80_000},
			}},
			"NET_RX x3, 90 us; a b[4] had the CPU for 80 us",
		},
		"a span of the service": {
			Request{Verdict: "gc", Evidence: []correlate.Evidence{{What: correlate.EvidenceSpan, Name: "gc", NS: 7_000}}},
			"gc for 7.00 us",
		},
		"the unit of who had the CPU": {
			Request{Verdict: "preempted", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceOccupant, Part: "preempted", Name: "backup", Pid: 7, Tid: 7, NS: 4e6, Unit: "backup.service"},
			}},
			"backup[7] (backup.service) had the CPU for 4.00 ms",
		},
		"what a call waited for": {
			Request{Verdict: "net", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceWait, Part: "net", Name: "recvfrom", Object: "tcp 127.0.0.1:5432", NS: 5e6, Count: 1},
			}},
			"recvfrom on tcp 127.0.0.1:5432, 5.00 ms",
		},
		"first touches of a library": {
			Request{Verdict: "fault", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceFaults, Name: "page fault", Object: "/usr/lib/libz.so.1", Context: "first touch", Count: 12, NS: 30_000},
			}},
			"12 x page fault (first touch of libz.so.1), 30 us",
		},
		"faults in the heap": {
			Request{Verdict: "fault", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceFaults, Name: "page fault", Object: "heap", Count: 12, NS: 30_000},
			}},
			"12 x page fault in heap, 30 us",
		},
		"a quota and its counter": {
			Request{Verdict: "throttled", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceThrottled, Part: "throttled", Unit: "scorer.service", NS: 40e6, Value: f(41e6), Normal: f(0)},
			}},
			"scorer.service was out of quota: throttled for 41.00 ms meanwhile (normal 0.00 us)",
		},
		"a stalled and cold core": {
			Request{Verdict: "slow-core", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceSampleGap, Value: f(60e6), Normal: f(10.1e6)},
				{What: correlate.EvidenceCold, Value: f(700_000), Normal: f(3_000)},
			}},
			"no tick for 60.00 ms on the CPU (one each 10.10 ms); others had its CPU for 700 us before (normal 3.00 us)",
		},
		"more work, at the usual pace": {
			Request{Verdict: "more-work", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceStretch, Value: f(1.9), Normal: f(1)},
				{What: correlate.EvidenceInstructions, Value: f(2_470_000), Normal: f(1_310_000)},
				{What: correlate.EvidencePerCycle, Value: f(1.02), Normal: f(1.04)},
			}},
			"2.47M instructions (normal 1.31M); ran 1.90 times the normal time",
		},
		"a slow core as its PMU saw it": {
			Request{Verdict: "slow-core", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceStretch, Value: f(2.5), Normal: f(1)},
				{What: correlate.EvidenceInstructions, Value: f(990_000), Normal: f(987_000)},
				{What: correlate.EvidencePerCycle, Value: f(0.5), Normal: f(1.04)},
				{What: correlate.EvidenceCyclesPerNS, Value: f(1.3), Normal: f(2.6)},
				{What: correlate.EvidenceStalled, Value: f(0.61), Normal: f(0.2)},
			}},
			"ran 2.50 times the normal time; 0.50 instructions per cycle (normal 1.04); stalled in 61% of its cycles (normal 20%); " +
				"1.30 cycles per ns (normal 2.60)",
		},
		"a step that had more to do": {
			Request{Verdict: "slow-step", Evidence: []correlate.Evidence{
				{What: correlate.EvidenceStep, Name: "predict", NS: 5e6, Value: f(3), Normal: f(1)},
				{What: correlate.EvidenceInstructions, Value: f(9_876), Normal: f(999)},
			}},
			"predict ran 3 times its normal time, +5.00 ms; 9.9k instructions (normal 999)",
		},
		"nothing seen, nothing said": {Request{Verdict: "incomplete"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Culprit(&tt.r); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestNamesFromProcessesCannotDriveTheTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "a b", "[x 0]": "[x 0]", "\x95": `\x95`, "\x1b[31mred": `\x1b[31mred`, `say "x"`: `say "x"`, "tab\there": `tab\there`,
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDurationKeepsItsUnit(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.00 us", 999: "1.00 us", 9_990: "9.99 us", 10_000: "10 us", 999_499: "999 us", 1_234_567: "1.23 ms",
		123_456_789: "123 ms", 12_345_678_900: "12.3 s", -20_000: "-20 us",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
	}
}
