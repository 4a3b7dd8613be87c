package vmtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEndIsFoundHoweverTheOutputIsCut(t *testing.T) {
	const all = "PASS\n\x00 is a byte too, \x00vmtest e\x00" + EndMark + "17\n"
	const want = "PASS\n\x00 is a byte too, \x00vmtest e\x00"
	for cut := range len(all) {
		var out bytes.Buffer
		e := &endFilter{w: &out}
		for _, part := range []string{all[:cut], all[cut:]} {
			if _, err := e.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		code, err := e.code()
		if err != nil || code != 17 || out.String() != want {
			t.Fatalf("cut at %d: code %d, %v, output %q", cut, code, err, out.String())
		}
	}
}

func TestOutputWithoutAnEndHasNoCode(t *testing.T) {
	for _, all := range []string{"", "PASS\n", EndMark, EndMark + "1", EndMark + "x\n", "ok\n\x00vmtest en"} {
		e := &endFilter{w: &bytes.Buffer{}}
		if _, err := e.Write([]byte(all)); err != nil {
			t.Fatal(err)
		}
		if code, err := e.code(); err == nil {
			t.Errorf("%q ends with code %d", all, code)
		}
	}
}

func TestComplaintsOfTheKernelAreFound(t *testing.T) {
	for line, bad := range map[string]bool{
		"[    0.19] Internal error: Oops: 96000004 [#1] SMP":                      true,
		"[    1.00] BUG: kernel NULL pointer dereference, address: 0":             true,
		"[    1.00] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!":            true,
		"[    1.00] Kernel panic - not syncing: Attempted to kill init!":          true,
		"[    1.00] WARNING: CPU: 0 PID: 1 at kernel/sched/core.c:1 foo+0x1/0x2":  true,
		"[    1.00] WARNING: kernel/sched/core.c:1 at foo+0x1/0x2, CPU#0: init/1": true,
		"[    1.00] cacheinfo: Unable to detect cache hierarchy for CPU 0":        false,
		"[    1.00] ACPI BIOS Warning (bug): Incorrect checksum":                  false,
	} {
		console := filepath.Join(t.TempDir(), "console")
		if err := os.WriteFile(console, []byte("fine\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := complaints(console); (err != nil) != bad {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestMissingFileFailsTheArchive(t *testing.T) {
	a := newInitramfs(&bytes.Buffer{})
	a.add("/x", filepath.Join(t.TempDir(), "none"))
	a.data("/y", "y")
	if err := a.close(); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got error %v", err)
	}
}
