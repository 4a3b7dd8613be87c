package symbols

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someMaps = `7f10a000-7f10c000 r-xp 00002000 fe:00 1234                       /usr/lib/lib x.so (deleted)
55d0c000-55d0d000 r--p 00000000 fe:00 77                         /usr/bin/svc
55d0d000-55d0e000 r-xp 00001000 fe:00 77                         /usr/bin/svc
7f20a000-7f20b000 rwxp 00000000 00:00 0
not a line
9-8 r-xp 0 0:0 0
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestMappingsAreTheExecutableOnes(t *testing.T) {
	got, err := parseMaps(strings.NewReader(someMaps))
	if err != nil {
		t.Fatal(err)
	}
	want := []mapping{
		{start: 0x55d0d000, end: 0x55d0e000, offset: 0x1000, dev: "fe:00", inode: 77, path: "/usr/bin/svc"},
		{start: 0x7f10a000, end: 0x7f10c000, offset: 0x2000, dev: "fe:00", inode: 1234, path: "/usr/lib/lib x.so (deleted)"},
		{start: 0x7f20a000, end: 0x7f20b000, dev: "00:00"},
		{start: 0xffffffffff600000, end: 0xffffffffff601000, dev: "00:00", path: "[vsyscall]"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mapping{})); diff != "" {
		t.Fatal(diff)
	}
	if m := findMapping(got, 0x7f10bfff); m == nil || m.name() != "/usr/lib/lib x.so" {
		t.Errorf("%+v", m)
	}
	for _, addr := range []uint64{0, 0x55d0cfff, 0x55d0e000, 0x7f10c000} {
		if m := findMapping(got, addr); m != nil {
			t.Errorf("%#x is in %+v", addr, m)
		}
	}
}

func FuzzMappings(f *testing.F) {
	f.Add(someMaps)
	f.Fuzz(func(t *testing.T, text string) {
		list, _ := parseMaps(strings.NewReader(text))
		for i, m := range list {
			if m.end <= m.start || i > 0 && m.start < list[i-1].start {
				t.Fatalf("%+v", list)
			}
		}
	})
}
