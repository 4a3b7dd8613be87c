package ringfollow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/ring"
)

func TestMappingsNamedLikeARingAreRecognized(t *testing.T) {
	file := fileID{0, 0x1a, 42}
	for _, test := range []struct {
		line string
		want mapping
		ok   bool
	}{
		{"7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42                         /dev/shm/tailtrace-7.ring",
			mapping{0x7f0e8c000000, 0x7f0e8c201000, file, "/dev/shm/tailtrace-7.ring", false, false, 7}, true},
		{"00400000-00601000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace-7.ring (deleted)",
			mapping{0x400000, 0x601000, file, "/dev/shm/tailtrace-7.ring", false, true, 7}, true},
		{"7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /memfd:tailtrace-7.ring (deleted)",
			mapping{0x7f0e8c000000, 0x7f0e8c201000, file, "/memfd:tailtrace-7.ring", true, true, 7}, true},
		{"7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /a b/tailtrace-7.ring",
			mapping{0x7f0e8c000000, 0x7f0e8c201000, file, "/a b/tailtrace-7.ring", false, false, 7}, true},
		{line: "7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace-07.ring"},
		{line: "7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace--7.ring"},
		{line: "7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace-7.ring.bak"},
		{line: "7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace-99999999999.ring"},
		{line: "7f0e8c000000-zz rw-s 00000000 00:1a 42 /dev/shm/tailtrace-7.ring"},
		{line: "7f0e8c000000-7f0e8c201000 rw-p 00000000 00:00 0 [heap]"},
		{line: "tailtrace-"},
		{line: ""},
	} {
		got, ok := parseMapping(test.line)
		if ok != test.ok {
			t.Errorf("%q: %v, want %v", test.line, ok, test.ok)
		}
		if d := cmp.Diff(test.want, got, cmp.AllowUnexported(mapping{}, fileID{})); ok && d != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, d)
		}
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add("7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /dev/shm/tailtrace-7.ring (deleted)")
	f.Add("7f0e8c000000-7f0e8c201000 rw-s 00000000 00:1a 42 /memfd:tailtrace-7.ring")
	f.Add("tailtrace-1.ring - : - -")
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := parseMapping(line)
		if ok && (m.pid <= 0 || !strings.Contains(line, ring.FileName(m.pid))) {
			t.Errorf("%q: pid %d", line, m.pid)
		}
	})
}
