package collector

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestStatIsReadInNanoseconds(t *testing.T) {
	got := parseStat([]byte(`cpu  100 5 50 1000 20 3 7 9 0 0
cpu0 60 5 20 500 10 1 2 4 1 0
cpu10 40 0 30 500 10 2 5 5 0 0
intr 12345 1 2 3 4
ctxt 678
btime 1
softirq 9 1 2
`))
	if got.interrupts != 12345 || got.switches != 678 {
		t.Errorf("interrupts %d, switches %d", got.interrupts, got.switches)
	}
	want := map[int32]cpuTimes{
		0:  {busy: 88 * nsPerTick, irq: 3 * nsPerTick, steal: 4 * nsPerTick},
		10: {busy: 77 * nsPerTick, irq: 7 * nsPerTick, steal: 5 * nsPerTick},
	}
	if diff := cmp.Diff(want, got.cpus, cmp.AllowUnexported(cpuTimes{})); diff != "" {
		t.Error(diff)
	}
	if empty := parseStat(nil); empty.interrupts != absent || empty.switches != absent {
		t.Errorf("figures that are not there: %+v", empty)
	}
}

func TestFiguresThatAreNotThereAreAbsent(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int64
	}{
		{"pressure", parsePressure([]byte("some avg10=0.00 avg60=1.00 avg300=0.00 total=1234\nfull avg10=0 total=9\n")), 1_234_000},
		{"no pressure", parsePressure(nil), absent},
		{"pressure without a total", parsePressure([]byte("some avg10=0.00\n")), absent},
		{"bad total", parsePressure([]byte("some total=x\n")), absent},
		{"meminfo", parseKeyed([]byte("MemFree:  5 kB\nMemAvailable:   77 kB\n"), "MemAvailable"), 77},
		{"vmstat", parseKeyed([]byte("pswpin 3\npswpout 4\n"), "pswpin"), 3},
		{"prefix of another key", parseKeyed([]byte("pswpin_zero 3\n"), "pswpin"), absent},
		{"cpu.stat", parseKeyed([]byte("usage_usec 5\nthrottled_usec 17\n"), "throttled_usec"), 17},
		{"no number", parseKeyed([]byte("pswpin\n"), "pswpin"), absent},
		{"growth", since(5, 12), 7},
		{"a counter that stepped back", since(12, 5), 0},
		{"growth of nothing", since(absent, 5), absent},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestThrottlingIsSummedUpTheCgroups(t *testing.T) {
	root := fakeProc(t, map[string]string{
		"cpu.stat":         "throttled_usec 1000\n", // of the root: not a quota
		"a/cpu.stat":       "nr_throttled 1\nthrottled_usec 5\n",
		"a/b/c/cpu.stat":   "throttled_usec 2\n",
		"a/b/c/d/cpu.stat": "throttled_usec 100\n",
	})
	r := newThrottleReader(root, "/a/b/c", "throttled_usec", 1000)
	defer r.close()
	if got := r.read(); got != 7000 {
		t.Errorf("throttled for %d ns, want 7000", got)
	}
	if got := newThrottleReader(root, "/", "throttled_usec", 1000).read(); got != absent {
		t.Errorf("the root cgroup was throttled for %d ns", got)
	}
	if got := newThrottleReader("", "/a", "throttled_usec", 1000).read(); got != absent {
		t.Errorf("without cgroups, throttled for %d ns", got)
	}
}

func TestCgroupsOfBothVersions(t *testing.T) {
	got := parseCgroup("12:cpu,cpuacct:/docker/abc\n3:cpuset:/other\n0::/unified/x:y\n")
	if got != (cgroupPaths{unified: "/unified/x:y", cpu: "/docker/abc"}) {
		t.Errorf("%+v", got)
	}
	v2, v1 := cgroupMounts(`proc /proc proc rw 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0
`)
	if v2 != "/sys/fs/cgroup/unified" || v1 != "/sys/fs/cgroup/cpu,cpuacct" {
		t.Errorf("mounts %q and %q", v2, v1)
	}
}

func TestCPUListsWithGaps(t *testing.T) {
	for list, want := range map[string][]int32{
		"0":         {0},
		"0-3":       {0, 1, 2, 3},
		"0,2-3,9\n": {0, 2, 3, 9},
		"254-257":   {254, 255, 256, 257},
		"0-1,300":   {0, 1, 300},
		"":          nil,
		"0-":        nil,
		"a":         nil,
		"0-1,,2-3":  nil,
		"3-1":       nil,
	} {
		got, err := parseCPUList(list)
		if (want == nil) != (err != nil) || (want != nil && !slices.Equal(got, want)) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
}

func TestMissingCapabilitiesAreNamed(t *testing.T) {
	for _, c := range []struct {
		status string
		want   string
	}{
		{"CapInh:\t0\nCapEff:\t000001ffffffffff\n", ""},
		{"CapEff:\t0000000000000000\n", "CAP_BPF CAP_PERFMON CAP_SYS_PTRACE"},
		{"CapEff:\t0000000000200000\n", "CAP_SYS_PTRACE"}, // only CAP_SYS_ADMIN
		{"CapEff:\t000000c000000000\n", "CAP_SYS_PTRACE"},
		{"CapEff:\t0000008000080000\n", "CAP_PERFMON"},
	} {
		set, err := parseCapEff(c.status)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(missingCaps(set), " "); got != c.want {
			t.Errorf("%q: missing %q, want %q", c.status, got, c.want)
		}
	}
	if _, err := parseCapEff("CapInh:\t0\n"); err == nil {
		t.Error("no effective set, no error")
	}
	if got := (&PrivilegeError{[]string{"CAP_BPF"}}).Error(); !strings.Contains(got, "CAP_BPF") {
		t.Errorf("the error says %q", got)
	}
}

func TestStatesAreThoseOfTheFile(t *testing.T) {
	for raw, want := range map[uint32]uint32{
		0x0000: eventfile.StateRunning,
		0x0001: eventfile.StateInterruptible,
		0x2001: eventfile.StateInterruptible, // freezable, as in nanosleep
		0x0002: eventfile.StateUninterruptible,
		0x0102: eventfile.StateUninterruptible, // killable
		0x0402: eventfile.StateIdle,
		0x0104: eventfile.StateStopped,
		0x0108: eventfile.StateTraced,
		0x0080: eventfile.StateDead,
		0x0020: eventfile.StateZombie,
		0x0040: eventfile.StateParked,
		0x1000: eventfile.StateUninterruptible, // a sleeping spinlock
		0x8000: eventfile.StateUninterruptible, // frozen
		0x0200: eventfile.StateInterruptible,   // being woken
	} {
		if got := reportedState(raw); got != want {
			t.Errorf("state %#x is %#x, want %#x", raw, got, want)
		}
	}
}

func TestGapsAreBoundedByWhatIsKnown(t *testing.T) {
	const since = 1000
	for name, c := range map[string]struct {
		before, after bpf.KernelCpuState
		want          eventfile.Time
	}{
		"one gap":               {bpf.KernelCpuState{}, bpf.KernelCpuState{Lost: 3, Gaps: 1, GapFirst: 1500, GapLast: 1600}, 1500},
		"a gap that goes on":    {bpf.KernelCpuState{Lost: 3, Gaps: 1, GapLast: 990, InGap: 1}, bpf.KernelCpuState{Lost: 9, Gaps: 1, GapLast: 1600}, 990},
		"several gaps":          {bpf.KernelCpuState{}, bpf.KernelCpuState{Lost: 9, Gaps: 4, GapFirst: 1500, GapLast: 1600}, since},
		"goes on, then another": {bpf.KernelCpuState{Lost: 3, Gaps: 1, GapLast: 990, InGap: 1}, bpf.KernelCpuState{Lost: 9, Gaps: 2, GapFirst: 1500, GapLast: 1600}, since},
	} {
		losses := lossesBetween(2, &c.before, &c.after, since)
		if len(losses) != 1 {
			t.Fatalf("%s: %+v", name, losses)
		}
		l := losses[0]
		if l.First != c.want || l.Last != 1600 || l.Count != c.after.Lost-c.before.Lost || l.CPU != 2 {
			t.Errorf("%s: %+v, want a start of %d", name, l, c.want)
		}
	}
	if got := lossesBetween(0, &bpf.KernelCpuState{Lost: 5, Tried: 9}, &bpf.KernelCpuState{Lost: 5, Tried: 12}, since); len(got) != 0 {
		t.Errorf("a loss out of nothing: %+v", got)
	}
}

func TestRingSizesArePowersOfTwoWithinBounds(t *testing.T) {
	page := os.Getpagesize()
	for _, c := range []struct{ total, cpus, want int }{
		{0, 1, maxRing},
		{0, 2, maxRing},
		{0, 16, 1 << 20},
		{0, 256, minRing},
		{1, 4, page},
		{3 << 20, 2, 1 << 20},
		{1 << 30, 2, maxRing},
	} {
		if got := ringSize(c.total, c.cpus); got != c.want {
			t.Errorf("%d bytes for %d CPUs: %d each, want %d", c.total, c.cpus, got, c.want)
		}
	}
}

func TestNamesOfNumbers(t *testing.T) {
	got := softirqNames([]byte("                    CPU0       CPU1\n          HI:          0          0\n       TIMER:      11879      11471\n      NET_TX:  5 0\n"))
	want := []eventfile.Name{{Class: "softirq", ID: 0, Name: "HI"}, {Class: "softirq", ID: 1, Name: "TIMER"}, {Class: "softirq", ID: 2, Name: "NET_TX"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	irqs := irqNames(fakeProc(t, map[string]string{"24/actions": "eth0-rx\n", "9/actions": "\n", "7/actions": "acpi,usb\n", "x/actions": "no\n"}))
	want = []eventfile.Name{{Class: "irq", ID: 7, Name: "acpi,usb"}, {Class: "irq", ID: 24, Name: "eth0-rx"}}
	if diff := cmp.Diff(want, irqs); diff != "" {
		t.Error(diff)
	}
	if syscallNames[unix.SYS_FUTEX] != "futex" {
		t.Errorf("system call %d is %q", unix.SYS_FUTEX, syscallNames[unix.SYS_FUTEX])
	}
}

func TestRealtimeOffsetIsSteady(t *testing.T) {
	a, b := realtimeOffset(), realtimeOffset()
	if d := max(a-b, b-a); d > 1e9 {
		t.Errorf("two readings of the offset differ by %d ns", d)
	}
}
