package collector

import (
	"testing"
	"unsafe"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestStatOfAThread(t *testing.T) {
	const rest = " 1 2 3 0 -1 4194560 5 0 0 0 1 2 0 0 20 0 9 0 1234 5678 90 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0"
	for _, c := range []struct {
		text string
		want threadStat
	}{
		{"71 (scorer) S" + rest, threadStat{"scorer", 'S', 3, 12.34e9}},
		{"71 (a b) (c) D" + rest, threadStat{"a b) (c", 'D', 3, 12.34e9}},
		{"71 (\x95) R" + rest, threadStat{"\x95", 'R', 3, 12.34e9}},
	} {
		if got, err := parseThreadStat([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
	for _, bad := range []string{"", "71 (x", ") 71 (", "71 (x) S", "71 (x) SS" + rest, "71 (x) S 1 2 3 0 -1"} {
		if got, err := parseThreadStat([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}

func TestSystemCallOfABlockedThread(t *testing.T) {
	for text, want := range map[string]struct {
		nr   int32
		args [3]uint64
		ok   bool
	}{
		"35 0x7ffc10 0x0 0x2a 0x0 0x0 0x0 0x7ffc00001000 0x7f0000001000\n": {35, [3]uint64{0x7ffc10, 0, 0x2a}, true},
		"-1 0x7ffc00001000 0x7f0000001000\n":                               {eventfile.NoSyscall, [3]uint64{}, true},
		"162 0xffd0 0x0 0x0 0x0 0x0 0x0 0xffd01000 0xf7f01000\n":           {eventfile.UnknownSyscall, [3]uint64{}, true}, // 32-bit
		"running\n": {},
		"":          {},
	} {
		nr, args, ok := parseSyscall(text)
		if ok != want.ok || ok && (nr != want.nr || args != want.args) {
			t.Errorf("%q: %d, %v, %v", text, nr, args, ok)
		}
	}
}

func TestOnlyBlockedThreadsHaveAStateInProc(t *testing.T) {
	const stat = " 1 2 3 0 -1 4194560 5 0 0 0 1 2 0 0 20 0 9 0 1234 5678 90 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0"
	const call = "35 0x10 0x20 0x30 0x0 0x0 0x0 0x7ffc00001000 0x7f0000001000\n"
	root := fakeProc(t, map[string]string{
		"8/stat": "1 (x) S" + stat, "8/syscall": call,
		"9/stat": "2 (x) R" + stat, "9/syscall": "running\n",
		"10/stat": "3 (x) S" + stat, "10/syscall": "running\n",
		"11/stat": "4 (x) Z" + stat,
		"12/stat": "5 (x) D" + stat, // whose system call may not be read
	})
	e := blockedThread(root+"/8", 7)
	if e == nil {
		t.Fatal("a thread that is asleep has no state")
	}
	d := asEvent(t, e)
	if d.Kind != eventfile.KindSnapshot || d.Tid != 8 || d.CPU != 1 || d.State != eventfile.StateInterruptible || d.Syscall != 35 || d.Args[2] != 0x30 {
		t.Errorf("asleep: %+v", d)
	}
	if e := blockedThread(root+"/12", 7); e == nil || e.State != eventfile.StateUninterruptible || e.Syscall != eventfile.UnknownSyscall {
		t.Errorf("a thread whose system call may not be read: %+v", e)
	}
	for name, dir := range map[string]string{"runnable": "9", "woken": "10", "ended": "11", "gone": "13"} {
		if e := blockedThread(root+"/"+dir, 7); e != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func asEvent(t *testing.T, e *bpf.KernelPointEvent) eventfile.Event {
	t.Helper()
	d, err := decode(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)))
	if err != nil {
		t.Fatal(err)
	}
	return d.event
}
