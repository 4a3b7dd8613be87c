package collector

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// at is a Tuesday.
var at = time.Date(2026, 12, 1, 10, 30, 20, 0, time.UTC)

func fakeMachine(t *testing.T, files map[string]string) machine {
	t.Helper()
	return machine{root: fakeProc(t, files), now: at}
}

func TestWhatBreaksQuiet(t *testing.T) {
	load := func(m machine) Condition { return m.load(0.1) }
	cron := func(m machine) Condition { return m.cron(10 * time.Minute) }
	const cpufreq = "sys/devices/system/cpu/cpu%/cpufreq/scaling_governor"
	governors := func(a, b string) map[string]string {
		return map[string]string{strings.Replace(cpufreq, "%", "0", 1): a + "\n", strings.Replace(cpufreq, "%", "1", 1): b + "\n"}
	}
	stat := func(pid, comm, parent string) string {
		return pid + " (" + comm + ") S " + parent + " 1 1 0 -1 0 0 0 0 0 7 5 0 0 20 0 1 0 100 0 0\n"
	}
	daemon := map[string]string{"proc/7/stat": stat("7", "cron", "1")}
	with := func(more map[string]string) map[string]string {
		files := map[string]string{}
		for _, m := range []map[string]string{daemon, more} {
			for k, v := range m {
				files[k] = v
			}
		}
		return files
	}
	for name, tc := range map[string]struct {
		files         map[string]string
		check         func(machine) Condition
		value, broken string
	}{
		"load below":           {map[string]string{"proc/loadavg": "0.04 0.10 0.20 1/100 77\n"}, load, "0.04 (at most 0.10)", ""},
		"load above":           {map[string]string{"proc/loadavg": "0.11 0.10 0.20 1/100 77\n"}, load, "0.11 (at most 0.10)", "work is running or has just ended"},
		"no load":              {nil, load, "not known", "there is no readable /proc/loadavg"},
		"no governor":          {nil, machine.governor, "not available", ""},
		"performance":          {governors("performance", "performance"), machine.governor, "performance", ""},
		"one saves power":      {governors("performance", "powersave"), machine.governor, "performance, powersave", "the clock follows the load on cpu1"},
		"no huge pages":        {nil, machine.thp, "not available", ""},
		"huge pages on demand": {map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n"}, machine.thp, "madvise", ""},
		"huge pages always":    {map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"}, machine.thp, "always", "the kernel makes huge pages behind every process"},
		"no swap":              {map[string]string{"proc/meminfo": "SwapTotal: 0 kB\nSwapFree: 0 kB\n"}, machine.swap, "none", ""},
		"free swap":            {map[string]string{"proc/meminfo": "SwapTotal: 100 kB\nSwapFree: 100 kB\n"}, machine.swap, "0 KiB of 100 in use", ""},
		"swap in use":          {map[string]string{"proc/meminfo": "SwapTotal: 100 kB\nSwapFree: 60 kB\n"}, machine.swap, "40 KiB of 100 in use", "pages are out, and come back from the disk when touched"},
		"cron stands still":    {map[string]string{"etc/crontab": "* * * * * root x\n"}, cron, "not running", ""},
		"cron has nothing due": {with(map[string]string{"etc/crontab": "# c\nSHELL=/bin/sh\n17 * * * * root cd / && run\n", "etc/cron.d/a.dpkg-old": "* * * * * root x\n"}), cron,
			"cron runs; 0 of 1 jobs due within 10m0s", ""},
		"cron has jobs due": {with(map[string]string{"etc/cron.d/sysstat": "*/5 * * * * root debian-sa1 1 1\n", "var/spool/cron/crontabs/alice": "@hourly backup\n31 10 * * 3 report\n"}), cron,
			"cron runs; 1 of 3 jobs due within 10m0s", "due: debian-sa1 1 at 10:35 (sysstat)"},
		"cron runs a job": {with(map[string]string{"proc/8/stat": stat("8", "backup", "7")}), cron,
			"cron runs; 0 of 0 jobs due within 10m0s", "runs backup[8]"},
		"no logins known": {nil, machine.sessions, "not known: neither logind nor utmp", ""},
		"own login": {map[string]string{"run/systemd/sessions/3": "UID=0\nUSER=root\nCLASS=user\nSTATE=active\n", "proc/self/sessionid": "3"}, machine.sessions,
			"your own and 0 others", ""},
		"other logins": {map[string]string{
			"run/systemd/sessions/3": "USER=root\nCLASS=user\nTTY=pts/0\n", "proc/self/sessionid": "3",
			"run/systemd/sessions/4":  "USER=alice\nCLASS=user\nTTY=pts/1\nREMOTE_HOST=10.0.0.9\n",
			"run/systemd/sessions/c1": "USER=gdm\nCLASS=greeter\n", "run/systemd/sessions/5": "USER=bob\nCLASS=user\nSTATE=closing\n",
		}, machine.sessions, "your own and 1 others", "logged in: alice on pts/1 from 10.0.0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.check(fakeMachine(t, tc.files))
			if c.Value != tc.value || c.Broken != tc.broken {
				t.Errorf("%q, %q; want %q, %q", c.Value, c.Broken, tc.value, tc.broken)
			}
			if (c.Fix == "") != (c.Broken == "" || c.Value == "not known") {
				t.Errorf("broken %q, fix %q", c.Broken, c.Fix)
			}
		})
	}
}

func TestSchedules(t *testing.T) {
	for line, want := range map[string]string{ // the first minute after at, a Tuesday 10:30:20, within a week
		"* * * * *":        "Tue 10:31",
		"17 * * * *":       "Tue 11:17",
		"30 10 * * *":      "Wed 10:30",
		"*/20 12-14 * * *": "Tue 12:00",
		"5/20 * * * *":     "Tue 10:45",
		"0 0 * * sun":      "Sun 00:00",
		"0 0 * * 7":        "Sun 00:00",
		"0 6 3 * 5":        "Thu 06:00", // the third or a Friday
		"0 6 */2 * 5":      "",          // an odd day and a Friday: the fourth is even
		"0 6 1,3 dec *":    "Thu 06:00",
		"0 6 * jan *":      "",
		"@daily":           "Wed 00:00",
		"@reboot":          "bad",
		"61 * * * *":       "bad",
		"a * * * *":        "bad",
		"5-1 * * * *":      "bad",
		"*/0 * * * *":      "bad",
		"* * * *":          "bad",
	} {
		got := "bad"
		if s, ok := parseSchedule(strings.Fields(line)); ok {
			got = ""
			if next, ok := s.next(at, 24*time.Hour*6); ok {
				got = next.Format("Mon 15:04")
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add("*/5 0-23/2 1,15 jan-jun mon")
	f.Add("@hourly")
	f.Fuzz(func(t *testing.T, line string) {
		s, ok := parseSchedule(strings.Fields(line))
		if !ok {
			return
		}
		if s.minute == 0 || s.hour == 0 || s.day == 0 || s.month == 0 || s.weekday == 0 {
			t.Fatalf("a field is empty: %+v", s)
		}
		next, ok := s.next(at, 24*time.Hour)
		if ok && (!s.matches(next) || !next.After(at) || next.Sub(at) > 24*time.Hour) {
			t.Fatalf("next is %v", next)
		}
	})
}

func TestTimersThatAreDue(t *testing.T) {
	const listed = `[{"next":1796121060000000,"left":1,"last":null,"passed":0,"unit":"sysstat-collect.timer","activates":"a"},
		{"next":1796124660000000,"unit":"apt-daily.timer"},{"next":null,"unit":"off.timer"},{"next":0,"unit":"never.timer"}]`
	list, err := parseTimers([]byte(listed))
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	now := time.UnixMicro(1796121000000000)
	if c := timersCondition(list, now, 10*time.Minute); c.Broken != "due: sysstat-collect.timer in 1m0s" || c.Fix != "systemctl stop sysstat-collect.timer" {
		t.Errorf("%+v", c)
	}
	if c := timersCondition(list, now, 30*time.Second); c.Broken != "" || c.Value != "0 due within 30s, the next is sysstat-collect.timer in 1m0s" {
		t.Errorf("%+v", c)
	}
	if c := timersCondition(nil, now, time.Hour); c.Broken != "" || c.Value != "none active" {
		t.Errorf("%+v", c)
	}
	if _, err := parseTimers([]byte("NEXT LEFT LAST\n0 timers listed.\n")); err == nil {
		t.Error("a table was taken for JSON")
	}
}

func TestLoginsOfUtmp(t *testing.T) {
	if utmpRecord == 0 {
		t.Fatal("the length of utmp's records is not known for this architecture")
	}
	record := func(kind uint16, pid int, line, user string) []byte {
		b := make([]byte, utmpRecord)
		binary.NativeEndian.PutUint16(b, kind)
		binary.NativeEndian.PutUint32(b[4:], uint32(pid))
		copy(b[8:], line)
		copy(b[44:], user)
		return b
	}
	self := os.Getpid()
	m := fakeMachine(t, nil)
	data := append(record(userProcess, self, "pts/0", "root"), record(userProcess, 2, "pts/1", "alice")...)
	data = append(data, record(8, 1, "pts/2", "gone")...)           // ended
	data = append(data, record(userProcess, -5, "pts/3", "old")...) // left behind
	for _, dir := range []string{"run", "proc/2"} {
		if err := os.MkdirAll(m.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/proc/self", m.path("proc/"+filepath.Base(mustReadlink(t, "/proc/self")))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.path("run/utmp"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	if c := m.sessions(); c.Value != "your own and 1 others" || c.Broken != "logged in: alice on pts/1" {
		t.Errorf("%+v", c)
	}
}

func mustReadlink(t *testing.T, path string) string {
	t.Helper()
	to, err := os.Readlink(path)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestBusyCPUsAreNamedWithWhatRuns(t *testing.T) {
	s := eventfile.BoxSample{CPUs: []eventfile.CPUSample{{CPU: 0, Busy: 10e6, Steal: absent}, {CPU: 1, Busy: 160e6, Steal: 30e6}}}
	who := hungriest(map[string]int64{"a[1]": 5, "b[2]": 7}, map[string]int64{"a[1]": 150e6, "b[2]": 7, "c[3]": 20e6}, 1e9)
	if c := busyCondition(&s, 1e9, .15, who); c.Broken != "work is running: a[1] 15%, c[3] 2%" || c.Value != "16.0% of CPU 1, the busiest (at most 15%)" {
		t.Errorf("%+v", c)
	}
	if c := busyCondition(&s, 1e9, .16, who); c.Broken != "" {
		t.Errorf("%+v", c)
	}
	if c := stealCondition(&s, 1e9); c.Broken != "the hypervisor takes time from CPU 1" || c.Value != "3.0%" {
		t.Errorf("%+v", c)
	}
	s.CPUs[1].Steal = absent
	if c := stealCondition(&s, 1e9); c.Broken != "" || c.Value != "not available" {
		t.Errorf("%+v", c)
	}
}

func TestProcessNamesMayHoldBrackets(t *testing.T) {
	p, ok := parseProcStat("12 (a) b (c) S 3 1 1 0 -1 0 0 0 0 0 4 6 0 0 20 0 1 0 100")
	if diff := cmp.Diff(procStat{"a) b (c", 3, 10 * nsPerTick}, p, cmp.AllowUnexported(procStat{})); diff != "" || !ok {
		t.Error(diff)
	}
	for _, bad := range []string{"", "12 (a", "12 a) S 1", "12 (a) S 1 2"} {
		if p, ok := parseProcStat(bad); ok {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

func TestQuietAnswersForAllConditions(t *testing.T) {
	limits := QuietLimits{MaxLoad: 1e6, MaxCPU: 1, Watch: 100 * time.Millisecond, For: time.Second}
	q, err := CheckQuiet(t.Context(), limits)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range q.Conditions {
		names = append(names, c.Name)
		if c.Value == "" || (c.Name == "load" || c.Name == "cpu") && c.Broken != "" {
			t.Errorf("%+v", c)
		}
	}
	if diff := cmp.Diff(QuietConditions, names); diff != "" {
		t.Error(diff)
	}
	still := Quiet{Conditions: []Condition{{Name: "load", Value: "0.01"}, {Name: "thp", Value: "never"}}}
	if text := still.String(); text != "the machine was quiet before the recording: load 0.01; thp never" {
		t.Error(text)
	}
	limits.MaxLoad, limits.Allow = -1, []string{"load"}
	if q, err = CheckQuiet(t.Context(), limits); err != nil || q.Conditions[0].Broken == "" || !q.Conditions[0].Allowed {
		t.Errorf("%+v, %v", q, err)
	}
	if text := q.String(); !strings.HasPrefix(text, "the machine was not quiet before the recording (load") || !strings.Contains(text, "(at most -1.00); cpu ") {
		t.Error(text)
	}
	for _, c := range q.Broken() {
		if c.Name == "load" {
			t.Errorf("%+v was allowed", c)
		}
	}
	limits.Allow = []string{"noise"}
	if _, err := CheckQuiet(t.Context(), limits); err == nil || !strings.Contains(err.Error(), `no condition "noise"`) {
		t.Error(err)
	}
}
