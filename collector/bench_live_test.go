package collector

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// BenchmarkKernelSide reports what each program costs a run while a process
// with many threads is traced; -benchtime 1x is enough.
func BenchmarkKernelSide(b *testing.B) {
	testenv.Root(b)
	types := copyOfOwnTypes(b)
	b.Run("tp_btf", func(b *testing.B) { benchmarkKernelSide(b, "") })
	b.Run("raw_tp", func(b *testing.B) { benchmarkKernelSide(b, types) })
}

func benchmarkKernelSide(b *testing.B, types string) {
	stats, err := ebpf.EnableStats(uint32(unix.BPF_STATS_RUN_TIME))
	if err != nil {
		b.Fatal(err)
	}
	defer stats.Close()
	c := startChild(b, "churn")
	k, err := openKernel(&Config{BTF: types, SampleHz: DefaultSampleHz})
	if err != nil {
		b.Fatal(err)
	}
	defer k.close()
	if err := k.trace(int32(c.pid)); err != nil {
		b.Fatal(err)
	}
	c.tell()
	for b.Loop() {
		time.Sleep(time.Second)
	}
	var runs, runtime float64
	for name, p := range k.progs {
		s, err := p.Stats()
		if err != nil {
			b.Fatal(err)
		}
		if s.RunCount == 0 {
			continue
		}
		runs += float64(s.RunCount)
		runtime += float64(s.Runtime.Nanoseconds())
		b.ReportMetric(float64(s.Runtime.Nanoseconds())/float64(s.RunCount), name+"-ns")
	}
	b.ReportMetric(runtime/max(runs, 1), "all-ns")
	b.ReportMetric(runs/float64(b.N), "runs/s")
	b.ReportMetric(0, "ns/op")
}
