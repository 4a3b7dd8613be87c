package scorer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckJudgesANeighbourByTheBurstsThatSlow makes up what explain could
// say: whether a machine's neighbour slows anything is not for a test to choose.
func TestCheckJudgesANeighbourByTheBurstsThatSlow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		stretch int64 // of requests under every burst
		verdict string
		named   bool
		want    int
	}{
		{"slowed and told so", 2, "slow-core", true, 0},
		{"slowed and told something else", 2, "slow-step", true, checkBelow},
		{"slowed by nobody known", 2, "slow-core", false, checkBelow},
		{"not slowed, so no verdict is asked for", 1, "slow-step", true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			writeNeighbour(t, dir, tt.stretch, tt.verdict, tt.named)
			if out, err := check(t, "neighbour", dir); exitCode(err) != tt.want {
				t.Errorf("exit %d, want %d\n%s", exitCode(err), tt.want, out)
			}
		})
	}
}

// writeNeighbour makes up ten seconds of requests of 1 ms, with a burst of
// 50 ms in every second, whose first request is in the tail.
func writeNeighbour(t *testing.T, dir string, stretch int64, verdict string, named bool) {
	const ms, second, pid = 1_000_000, 1_000_000_000, 77
	var truth []byte
	var requests []map[string]any
	for at := int64(0); at < 10*second; {
		under := at%second >= 500*ms && at%second < 550*ms
		if at%second == 500*ms {
			truth = fmt.Appendf(truth, `{"pid": %d, "begin_ns": %d, "end_ns": %d, "cpu_ns": %d}`+"\n", pid, at, at+50*ms, 50*ms)
		}
		ns := int64(ms)
		evidence := []map[string]any{}
		if under {
			ns *= stretch
			if named {
				evidence = append(evidence, map[string]any{"what": "other-cpu-task", "pid": pid, "cmdline": "disturb.py memory"})
			}
		}
		requests = append(requests, map[string]any{
			"id": len(requests), "begin_ns": at, "end_ns": at + ns, "latency_ns": ns,
			"tail": at%second == 500*ms, "verdict": verdict, "evidence": evidence,
			"parts_ns": map[string]int64{"running": ns}, "excess_ns": map[string]int64{"running": ns - ms + 1000},
		})
		at += ns
	}
	explained, err := json.Marshal(map[string]any{"requests": requests})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"truth.jsonl": truth, "explain.json": explained} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
