package collector

import (
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/bpf"
)

// What the kernel side counts as waiting must come back to nothing, whatever
// the threads do: a count that drifts records all switches of a CPU for good,
// or none.
func TestWaitingCountsDoNotDrift(t *testing.T) {
	eachFlavour(t, waitingCountsDoNotDrift)
}

func waitingCountsDoNotDrift(t *testing.T, types string) {
	c := startChild(t, "churn")
	k, err := openKernel(&Config{BTF: types})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	c.tell()
	time.Sleep(100 * time.Millisecond) // so that the snapshot meets it at work
	if err := k.trace(int32(c.pid)); err != nil {
		t.Fatal(err)
	}
	if err := k.snapshot([]int32{int32(c.pid)}, func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	seen := false
	for range 300 {
		time.Sleep(10 * time.Millisecond)
		seen = seen || waiting(t, k) != 0
	}
	c.tell()
	c.hear()
	if !seen {
		t.Error("no thread was ever seen waiting")
	}
	eventually(t, "all counts to be 0 while the threads sleep", func() bool { return waiting(t, k) == 0 })
	c.kill()
	for range 3 { // some that end in the middle of it
		c := startChild(t, "churn")
		if err := k.trace(int32(c.pid)); err != nil {
			t.Fatal(err)
		}
		c.tell()
		time.Sleep(200 * time.Millisecond)
		if err := k.snapshot([]int32{int32(c.pid)}, func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		c.kill()
	}
	eventually(t, "all counts to be 0 after the end", func() bool { return waiting(t, k) == 0 })
	eventually(t, "the process to be forgotten", func() bool { return entries[bpf.KernelTarget](t, k, bpf.KernelMapTargets) == 0 })
	eventually(t, "its threads to be forgotten", func() bool { return entries[bpf.KernelThread](t, k, bpf.KernelMapThreads) == 0 })
}

// waiting is the sum over the CPUs of how far each count is from 0.
func waiting(t *testing.T, k *kernel) int32 {
	t.Helper()
	var sum int32
	for cpu := range k.rings.readers {
		state, err := k.states.read(cpu)
		if err != nil {
			t.Fatal(err)
		}
		sum += max(state.Waiting, -state.Waiting)
	}
	return sum
}

func entries[V any](t *testing.T, k *kernel, name string) int {
	t.Helper()
	var key uint32
	var value V
	n := 0
	it := k.maps.Maps[name].Iterate()
	for it.Next(&key, &value) {
		n++
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 100 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("waited in vain for %s", what)
}
