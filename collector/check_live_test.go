package collector

import (
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestCheckSaysOfEachHookWhatItGot(t *testing.T) {
	eachFlavour(t, checkSaysOfEachHookWhatItGot)
}

func checkSaysOfEachHookWhatItGot(t *testing.T, types string) {
	report, err := Check(Config{BTF: types, SampleHz: DefaultSampleHz}, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range report.Hooks {
		t.Logf("%-36s %-22s %s", h.Name, h.How, h.Why)
		if (h.How == "") == (h.Why == "") || (h.How == "") != (h.Lost != "") {
			t.Errorf("hook is neither on nor off, or does not say what is lost: %+v", h)
		}
	}
	for _, f := range report.Facts {
		t.Logf("%-36s %-22s %s", f.Name, f.Value, f.Lost)
	}
	t.Logf("fault trap %d ns", report.FaultTrap)
	if len(report.Hooks) == 0 || len(report.Facts) == 0 {
		t.Error("an empty report")
	}
}

func TestMissingTracepointTurnsOffOnlyItsHook(t *testing.T) {
	testenv.Root(t)
	k, err := openKernel(&Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	types, err := loadKernelTypes("")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &kernelConfig{sizes: sizes{cpus: len(k.rings.readers), ringBytes: 4096, threads: 1}, follow: true}
	l, err := newLoader(types, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer l.maps.Close()
	gone := pair("gone", "no_such_tracepoint", "", "what it would say")
	before := len(k.hooks)
	if err := k.add(l, &gone, cfg); err != nil {
		t.Fatalf("an optional hook stops the others: %v", err)
	}
	if h := k.hooks[before]; h.How != "" || h.Why == "" || h.Lost != "what it would say" {
		t.Errorf("a hook that this kernel lacks: %+v", h)
	}
	gone.must = true
	if err := k.add(l, &gone, cfg); err == nil {
		t.Error("a hook that must be there may be missing")
	}
}
