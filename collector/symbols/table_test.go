package symbols

import (
	"strings"
	"testing"
)

func tableOf(list ...symbol) *table {
	t := &table{}
	for _, s := range list {
		t.add(s.addr, s.size, "f"+string(rune('a'+s.name)))
	}
	t.sort()
	return t
}

func TestFunctionIsTheOneAroundTheAddress(t *testing.T) {
	tab := tableOf(symbol{0x300, 0, 2}, symbol{0x100, 0x20, 0}, symbol{0x200, 0, 1})
	for addr, want := range map[uint64]string{
		0: "", 0xff: "", 0x100: "fa", 0x11f: "fa", 0x120: "", 0x200: "fb", 0x2ff: "fb", // no size: up to the next
		0x300: "", // nor for the last: nobody knows where it ends
	} {
		if _, got, _ := tab.find(addr); got != want {
			t.Errorf("%#x is in %q, want %q", addr, got, want)
		}
	}
}

func TestOfSeveralNamesThePlainestStays(t *testing.T) {
	tab := &table{}
	tab.add(0x100, 8, "__nanosleep")
	tab.add(0x100, 8, "nanosleep")
	tab.add(0x100, 0, "label")
	tab.sort()
	if _, got, _ := tab.find(0x104); got != "nanosleep" || len(tab.list) != 1 {
		t.Errorf("%q of %d", got, len(tab.list))
	}
}

func TestNamesAreBounded(t *testing.T) {
	tab := &table{}
	tab.add(0x100, 8, strings.Repeat("x", 1<<20))
	if _, got, _ := tab.find(0x100); len(got) != maxName {
		t.Errorf("%d bytes", len(got))
	}
	tab.list[0].name = 1 << 31 // a damaged file
	if _, got, ok := tab.find(0x100); got != "" || !ok {
		t.Errorf("%q, %v", got, ok)
	}
}

func TestKernelSymbolsAreFunctionsOfKernelAndModules(t *testing.T) {
	tab := parseKallsyms(strings.NewReader("ffffffff81000000 T _stext\nffffffff81000000 t startup\nffffffff81000100 D data\n" +
		"broken\nffffffff81000200 W weak\nffffffffc0300000 t nf_hook\t[nf_tables]\nffffffffc0300100 t end\t[nf_tables]\n0000000000000000 T hidden\n"))
	for addr, want := range map[uint64][2]string{
		0xffffffff81000110: {"startup", kernelName}, 0xffffffff81000201: {"weak", kernelName}, 0xffffffffc0300001: {"nf_hook", "[nf_tables]"},
	} {
		_, text, ok := tab.find(addr)
		name, module := kernelSymbol(text)
		if !ok || name != want[0] || module != want[1] {
			t.Errorf("%#x: %q %q", addr, name, module)
		}
	}
	if len(tab.list) != 4 {
		t.Errorf("%d functions", len(tab.list))
	}
}

func TestFramesOfTheProgramThatTookTheStackAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  int
	}{
		{[]string{"bpf_prog_1_sched_switch", "bpf_trace_run4", "__traceiter_sched_switch", "__schedule", "schedule"}, 3},
		{[]string{"", "bpf_trace_run4", "", "__traceiter_sched_switch", "__schedule"}, 4},
		{[]string{"__schedule", "schedule"}, 0},
		{nil, 0},
	} {
		if got := ownFrames(c.names); got != c.want {
			t.Errorf("%q: %d, want %d", c.names, got, c.want)
		}
	}
}
