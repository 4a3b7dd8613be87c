package collector

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestCPUsThatComeAndGoAreNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "online")
	write := func(list string) {
		if err := os.WriteFile(path, []byte(list+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("0-3,8-11")
	w, err := openCPUWatch(path, []int32{0, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for _, c := range []struct {
		list       string
		came, went []int32
	}{
		{"0-3,8-11", []int32{8, 9, 10, 11}, nil},
		{"0-3,8-11", nil, nil},
		{"0,3,8-12", []int32{12}, []int32{1, 2}},
		{"0-1", []int32{1}, []int32{3, 8, 9, 10, 11, 12}},
	} {
		write(c.list)
		came, went, err := w.look()
		if err != nil || !slices.Equal(came, c.came) || !slices.Equal(went, c.went) {
			t.Errorf("%s: came %v, went %v, %v", c.list, came, went, err)
		}
	}
}

// A CPU that is offline has a ring too, small next to those that are sure to
// be used.
func TestEveryPossibleCPUHasARing(t *testing.T) {
	testenv.Root(t)
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Fatal(err)
	}
	types, err := loadKernelTypes("")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &kernelConfig{sizes: sizes{cpus: 5, ringBytes: 4 * minRing, threads: 1}}
	l, err := newLoader(types, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer l.maps.Close()
	r, err := newRings(l.maps.Maps[bpf.KernelMapRings], cfg.sizes, []int32{0, 3})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var got []int
	for _, rd := range r.readers {
		got = append(got, rd.BufferSize())
	}
	if want := []int{4 * minRing, minRing, minRing, 4 * minRing, minRing}; !slices.Equal(got, want) {
		t.Errorf("rings of %d bytes, want %d", got, want)
	}
}

// An event ends with its CPU. It is found out when, and another one takes its
// place.
func TestPerfEventsThatEndedAreFound(t *testing.T) {
	testenv.Root(t)
	k, err := openKernel(&Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	testenv.Need(t, len(k.perf) > 0, "perf software events")
	cpu := k.cpus[0]
	if at, ended := k.ended(cpu); ended {
		t.Errorf("it ended at %d and is still on", at)
	}
	e := k.perf[0].events[cpu]
	if err := unix.IoctlSetInt(int(e.perfFD), unix.PERF_EVENT_IOC_DISABLE, 0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)
	if at, ended := k.ended(cpu); !ended || at <= e.since || at >= now() {
		t.Errorf("it began at %d, and ended (%t) at %d, now is %d", e.since, ended, at, now())
	}
	if err := k.open(cpu); err != nil {
		t.Fatal(err)
	}
	if at, ended := k.ended(cpu); ended {
		t.Errorf("the next one ended at %d", at)
	}
	if at, ended := k.ended(1 << 20); !ended || at != 0 {
		t.Errorf("that of a CPU without one ended (%t) at %d", ended, at)
	}
}
