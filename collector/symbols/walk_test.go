package symbols

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// program is a module made by hand: outer calls middle, which calls leaf; all
// but leaf set up frames. indirect calls through a register.
//
//	0x1000 outer     0x1100 middle    0x1200 leaf, without a frame    0x1300 indirect    0x1400 bare, without a frame
func program() *module {
	code := bytes.Repeat([]byte{0x90}, 0x600)
	frame := []byte{0x55, 0x48, 0x89, 0xe5}
	call := func(at, target uint64) {
		code[at-0x1000] = 0xe8
		binary.LittleEndian.PutUint32(code[at-0x1000+1:], uint32(target-(at+5)))
	}
	for _, start := range []int{0, 0x100, 0x300} {
		copy(code[start:], frame)
	}
	call(0x1010, 0x1100)                   // returns to 0x1015
	call(0x1020, 0x1400)                   // to 0x1025
	call(0x1110, 0x1200)                   // to 0x1115
	copy(code[0x310:], []byte{0xff, 0xd0}) // to 0x1312
	copy(code[0x480:], []byte{0xc3})       // bare returns
	copy(code[0x130:], []byte{0xc9, 0xc3}) // middle: leave; ret
	m := &module{image: image{loads: []load{{0, 0x600, 0x1000}}, buildID: "c0ffee"}, code: bytes.NewReader(code)}
	for i, name := range []string{"outer", "middle", "leaf", "indirect", "bare", "_start"} {
		m.symbols.add(0x1000+uint64(i)*0x100, 0x100, name)
	}
	m.symbols.sort()
	return m
}

// walkTo walks through addresses of m; those of another module are in a C
// library without symbols.
func walkTo(m *module, deep bool, addrs ...uint64) []eventfile.Frame {
	libc := &module{image: image{loads: []load{{0, 0x100, 0x9000}}}, code: bytes.NewReader([]byte{7: 0xff, 8: 0xd0, 0xff: 0})}
	w := walk{isa: amd64{}, demangle: func(s string) string { return s }}
	for i, addr := range addrs {
		c := &call{frame: eventfile.Frame{Addr: addr}}
		switch {
		case addr >= 0x1000 && addr < 0x1600:
			c.mapped, c.module, c.frame.Module = true, m, "/bin/program"
		case addr >= 0x9000 && addr < 0x9100:
			c.mapped, c.module, c.frame.Module = true, libc, "/lib/libc.so.6"
		case addr >= 0x5000 && addr < 0x6000:
			c.mapped, c.frame.Module, c.frame.Symbol = true, jitName, "made"
		}
		if c.module != nil {
			c.vaddr = addr
			c.site = c.module.site(amd64{}, addr, i == 0)
			c.frame.Symbol = c.site.name
		}
		if !w.add(c) {
			return w.finish(false)
		}
	}
	return w.finish(deep)
}

func TestStepsOfAWalkAreTested(t *testing.T) {
	const cut, missing = eventfile.FrameCut, eventfile.FrameMissing
	for _, c := range []struct {
		name  string
		addrs []uint64
		want  string // the innermost first
	}{
		{"all have frames", []uint64{0x1150, 0x1015, 0x1505}, "middle outer _start"},
		{"the leaf hides its caller, whose code tells", []uint64{0x1250, 0x1015, 0x1505}, "leaf middle outer _start"},
		{"the caller's call goes elsewhere", []uint64{0x1450, 0x1015, 0x1505}, "bare " + missing + " middle outer _start"},
		{"called from where the walk leads", []uint64{0x1450, 0x1025, 0x1505}, "bare outer _start"},
		{"a call whose target is not known", []uint64{0x1250, 0x1312, 0x1505}, "leaf " + missing + " indirect _start"},
		{"before the frame is set up", []uint64{0x1102, 0x1015, 0x1505}, "middle outer _start"},
		{"at the end, when it is gone", []uint64{0x1131, 0x1505}, "middle " + missing + " _start"},
		{"no call returns there", []uint64{0x1150, 0x1050, 0x1505}, "middle " + cut},
		{"not code at all", []uint64{0x1150, 0x777, 0x1505}, "middle " + cut},
		{"the first address is not code", []uint64{0x777}, " " + cut},
		{"no address", nil, cut},
		{"ends nowhere", []uint64{0x1150, 0x1015}, "middle outer " + cut},
		{"ends in a stripped C library", []uint64{0x1150, 0x1015, 0x9009}, "middle outer "},
		{"waits in a stripped C library", []uint64{0x9050, 0x1015, 0x1505}, " " + missing + " middle outer _start"},
		{"code made at run time is believed", []uint64{0x5000, 0x5100, 0x1312, 0x1505}, "made made indirect _start"},
	} {
		var names []string
		for _, f := range walkTo(program(), false, c.addrs...) {
			names = append(names, f.Symbol)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDeepStackSaysThatItGoesOn(t *testing.T) {
	frames := walkTo(program(), true, 0x1150, 0x1015)
	if last := frames[len(frames)-1].Symbol; last != eventfile.FrameDeep {
		t.Errorf("it ends in %q", last)
	}
	frames = walkTo(program(), true, 0x1150, 0x777, 0x1015)
	if last := frames[len(frames)-1].Symbol; last != eventfile.FrameCut {
		t.Errorf("one that leads astray ends in %q", last)
	}
}

func TestCallFoundInTheCodeHasItsPlace(t *testing.T) {
	f := walkTo(program(), false, 0x1250, 0x1015, 0x1505)[1]
	want := eventfile.Frame{Addr: 0x1100, Offset: 0x100, Module: "/bin/program", Symbol: "middle"}
	if f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
}
