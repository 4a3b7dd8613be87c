package collector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

const someMaps = `00400000-00452000 r-xp 00000000 08:02 173521                             /usr/bin/dbus daemon
00e03000-00e24000 rw-p 00000000 00:00 0                                  [heap]
35b1a21000-35b1a22000 rw-p 00000000 00:00 0 
nonsense
7f2c6ff8c000-7f2c7078c000 rw-p 00000000 00:00 0                           [stack:986]
`

func TestMappingsAreRead(t *testing.T) {
	want := []eventfile.Mapping{
		{Start: 0x400000, End: 0x452000, Perms: "r-xp", Path: "/usr/bin/dbus daemon"},
		{Start: 0xe03000, End: 0xe24000, Perms: "rw-p", Path: "[heap]"},
		{Start: 0x35b1a21000, End: 0x35b1a22000, Perms: "rw-p"},
		{Start: 0x7f2c6ff8c000, End: 0x7f2c7078c000, Perms: "rw-p", Path: "[stack:986]"},
	}
	if diff := cmp.Diff(want, parseMappings([]byte(someMaps))); diff != "" {
		t.Errorf("mappings (-want +got):\n%s", diff)
	}
}

// rounds lets a tracker pass on what it finds at a time.
func rounds(t *testing.T, m *mapTracker, at eventfile.Time) (found []eventfile.Mapping) {
	t.Helper()
	err := m.round(at, func(k *eventfile.Mapping) error {
		found = append(found, *k)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestMappingsAreReadAgainOnlyForAFaultOutsideOfThem(t *testing.T) {
	m := newMapTracker()
	m.root = fakeProc(t, map[string]string{"7/maps": someMaps})
	m.add(7)
	if got := rounds(t, m, 1); len(got) != 4 || got[0].Pid != 7 || got[0].Time != 1 {
		t.Fatalf("at the start: %+v", got)
	}
	m.fault(7, 0xe03000)
	if got := rounds(t, m, 1+mapsEvery); len(got) != 0 {
		t.Errorf("read again for a fault in the heap: %+v", got)
	}
	m.root = fakeProc(t, map[string]string{"7/maps": someMaps + "7f3000000000-7f3000001000 r-xp 0 08:02 9 /lib/new.so\n"})
	m.fault(7, 0x7f3000000fff)
	if got := rounds(t, m, 2*mapsEvery); len(got) != 1 || got[0].Path != "/lib/new.so" {
		t.Errorf("after a fault in a new mapping: %+v", got)
	}
}

func TestFaultThatNoMappingExplainsIsNotAskedForAllTheTime(t *testing.T) {
	m := newMapTracker()
	m.root = fakeProc(t, map[string]string{"7/maps": someMaps})
	m.add(7)
	rounds(t, m, 0)
	reads := 0
	var last eventfile.Mapping
	for at := eventfile.Time(0); at < 60e9; at += 50e6 {
		m.fault(7, 0xdead123)
		m.fault(7, 0xdeaf456)
		for _, last = range rounds(t, m, at) {
			reads++
		}
	}
	last.Time = 0
	if want := (eventfile.Mapping{Pid: 7, Start: 0xdead000, End: 0xdeb0000, Path: eventfile.MappingGone}); last != want {
		t.Errorf("they are said to be in %+v, want %+v", last, want)
	}
	if reads < 10 || reads > 40 {
		t.Errorf("read %d times in a minute of faults that no mapping explains", reads)
	}
}
