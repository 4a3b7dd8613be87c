package ring

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/v1.ring anew")

const (
	interopScript = "testdata/interop.txt"
	interopRounds = 7 // enough to go once around the ring
	frozenRing    = "testdata/v1.ring"
)

// TestPublishersWriteTheFrozenRing plays one script through each publisher and
// compares the ring byte for byte with a frozen one.
func TestPublishersWriteTheFrozenRing(t *testing.T) {
	if *update {
		if err := os.WriteFile(frozenRing, goInterop(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(frozenRing)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(t *testing.T, got []byte) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d bytes, want %d", len(got), len(want))
		}
		for i := 0; i < len(got); i += 64 {
			if d := cmp.Diff(hex.Dump(want[i:i+64]), hex.Dump(got[i:i+64])); d != "" {
				t.Fatalf("at offset %d (-want +got):\n%s", i, d)
			}
		}
	}
	t.Run("go", func(t *testing.T) { compare(t, goInterop(t)) })
	for _, python := range pythons(t) {
		t.Run(python, func(t *testing.T) {
			compare(t, playScript(t, python, "python/testdata/interop.py"))
		})
	}
	for _, c := range compilers(t) {
		t.Run(c.name, func(t *testing.T) {
			player := c.build(t, "c/testdata/interop.c")
			compare(t, playScript(t, player))
			t.Setenv("CHECKSUM", "table")
			compare(t, playScript(t, player))
		})
	}
}

// TestFrozenRingReadsBack reads the frozen ring: what the script says, as far
// as the ring still holds it.
func TestFrozenRingReadsBack(t *testing.T) {
	b, err := os.ReadFile(frozenRing)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	got := readAll(t, r)
	var want []Slot
	for range interopRounds {
		_, slots := readScript(t)
		for _, s := range slots {
			s.Index = uint64(len(want))
			want = append(want, s)
		}
	}
	want = want[len(want)-64:]
	if n, why := r.Invalid(); n != 0 || r.Lost() != 0 || r.Err() != nil {
		t.Fatalf("lost %d, invalid %d (%v), %v", r.Lost(), n, why, r.Err())
	}
	if len(got) != len(want) {
		t.Fatalf("%d windows, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Flags&FlagCut != 0 {
			w.Flags |= FlagCut
			w.Points, g.Points = nil, nil // their rules have a test of their own
		}
		if i, ok := firstUnpaired(w.Points); ok {
			w.Points, g.Points = w.Points[:i], g.Points[:i]
		}
		if d := cmp.Diff(w, g); d != "" {
			t.Errorf("window %d (-script +ring):\n%s", w.Index, d)
		}
	}
	if d := cmp.Diff("größe", r.Name(5)); d != "" || r.Name(6) != strings.Repeat("x", 63) || r.Name(7) != "" {
		t.Errorf("names 5 to 7: %q %q %q", r.Name(5), r.Name(6), r.Name(7))
	}
}

// firstUnpaired finds where a script's points stop to be suspend and resume in turn.
func firstUnpaired(pts []Point) (int, bool) {
	away := false
	for i, p := range pts {
		if p.Type == Suspend || p.Type == Resume {
			if away == (p.Type == Suspend) {
				return i, true
			}
			away = !away
		}
	}
	return 0, false
}

// goInterop plays the script through the Go publisher.
func goInterop(t *testing.T) []byte {
	t.Helper()
	p, err := Create(Options{Service: "interop", Slots: 64, Dir: shmDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range interopRounds {
		names, slots := readScript(t)
		for _, n := range names {
			p.Name(n)
		}
		for _, s := range slots {
			p.Publish(&s)
		}
	}
	b, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	return normalize(b)
}

// playScript runs another publisher's player and returns the ring it left.
func playScript(t *testing.T, player ...string) []byte {
	t.Helper()
	dir := shmDir(t)
	cmd := exec.Command(player[0], append(player[1:], interopScript, dir, strconv.Itoa(interopRounds))...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return normalize(b)
}

// normalize clears what differs from run to run: pid and time of creation.
func normalize(b []byte) []byte {
	clear(b[offPid : offPid+4])
	clear(b[offCreated : offCreated+8])
	return b
}

// readScript returns the names and slots of the interop script.
func readScript(t *testing.T) (names []string, slots []Slot) {
	t.Helper()
	b, err := os.ReadFile(interopScript)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "name "); ok {
			text, err := strconv.Unquote(`"` + name + `"`)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, text)
		}
		if s, ok := strings.CutPrefix(line, "slot "); ok {
			slots = append(slots, parseSlot(t, s))
		}
	}
	return names, slots
}

func parseSlot(t *testing.T, line string) Slot {
	t.Helper()
	var s Slot
	var id []byte
	fields := strings.Fields(line)
	_, err := fmt.Sscanf(line, "%d %d %d %x %d %d %d %d %d", &s.Type, &s.Kind, &s.Flags, &id,
		&s.Begin, &s.End, &s.CPU, &s.Tid, &s.EndTid)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	s.ID = [16]byte(id)
	for _, f := range fields[9:] {
		var p Point
		var arg uint32
		if _, err := fmt.Sscanf(f, "%d:%d:%d", &p.Type, &arg, &p.Offset); err != nil {
			t.Fatalf("%q: %v", f, err)
		}
		if p.Type == Thread {
			p.Tid = arg
		} else {
			p.Name = uint8(arg)
		}
		s.Points = append(s.Points, p)
	}
	return s
}
