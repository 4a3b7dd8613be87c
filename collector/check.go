package collector

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Capability is what this kernel and machine allow, as a recording would find
// it.
type Capability struct {
	Kernel    string
	Arch      string
	CPUs      []int32 // online
	Hooks     []eventfile.Hook
	FaultTrap int64 // ns, -1 where it was not measured; see eventfile.Header
	Facts     []Fact
}

// Fact is one thing worth knowing before a recording.
type Fact struct {
	Name  string
	Value string
	// Lost is what a recording cannot say for it; "" where all is well.
	Lost string
}

// Check loads and attaches everything, as a recording does, with no process
// to trace, measures the machine for a moment, and takes it all away again.
// It needs the same rights as Run.
func Check(c Config, watch time.Duration) (*Capability, error) {
	if err := checkPrivileges(); err != nil {
		return nil, err
	}
	k, err := openKernel(&c)
	if err != nil {
		return nil, err
	}
	defer k.close()
	report := &Capability{
		Kernel: kernelRelease(),
		Arch:   runtime.GOARCH,
		CPUs:   k.cpus,
		Hooks:  k.hooks,
	}
	report.FaultTrap = k.faultTrap(func(text string) {
		report.Facts = append(report.Facts, Fact{"fault trap", "not measured", text})
	})
	if c.BTF != "" {
		report.Facts = append(report.Facts, typesFact(c.BTF))
	}
	facts, err := machineFacts(k.cpus, watch)
	report.Facts = append(report.Facts, facts...)
	return report, err
}

// lostWithoutTypes is what cannot be said on a kernel that does not know its
// types, beyond what hooks say.
const lostWithoutTypes = "what threads that were runnable when recording began did until their next switch"

func typesFact(file string) Fact { return Fact{"kernel types", file, lostWithoutTypes} }

// machineFacts watches the machine for a moment: what it tells of itself, and
// whether it is quiet.
func machineFacts(cpus []int32, watch time.Duration) ([]Fact, error) {
	box, err := openBox(cpus, int32(os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer box.close()
	before := now()
	time.Sleep(watch)
	s, err := box.sample()
	if err != nil {
		return nil, err
	}
	return append(boxFacts(&s, int64(s.Time-before)), hypervisorFact(), lockdownFact()), nil
}

// boxFacts says what a sample over wall ns has and lacks.
func boxFacts(s *eventfile.BoxSample, wall int64) []Fact {
	var busy, steal int64
	freq := int64(absent)
	for _, c := range s.CPUs {
		busy += max(c.Busy, 0)
		steal += max(c.Steal, 0)
		freq = max(freq, c.FreqKHz)
	}
	all := wall * int64(len(s.CPUs))
	facts := []Fact{{Name: "busy", Value: percent(busy, all)}, {Name: "steal", Value: percent(steal, all)}}
	if 10*busy > all {
		facts[0].Lost = "the machine is not quiet: other work adds to the tail"
	}
	if steal > 0 {
		facts[1].Lost = "the hypervisor takes CPU time, which no event shows"
	}
	f := Fact{Name: "cpu frequency", Value: fmt.Sprintf("%d MHz", freq/1000)}
	if freq == absent {
		f = Fact{"cpu frequency", "not available", "whether a slow core was a slow clock"}
	}
	p := Fact{Name: "pressure (PSI)", Value: "available"}
	if s.PSI[0] == absent {
		p = Fact{"pressure (PSI)", "not available", "pressure on CPU, memory and io"}
	}
	return append(facts, f, p)
}

func percent(part, all int64) string {
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(max(all, 1)))
}

// hypervisorFact says whether this is a virtual machine, where the flags of
// x86 and the device tree or DMI of others tell it.
func hypervisorFact() Fact {
	const lost = "time that the hypervisor takes is visible only as steal"
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err == nil && strings.Contains(string(cpuinfo), " hypervisor") {
		return Fact{"virtual machine", "yes", lost}
	}
	vendor, err := os.ReadFile("/sys/class/dmi/id/sys_vendor")
	if err == nil && (strings.Contains(string(vendor), "Amazon EC2") || strings.Contains(string(vendor), "QEMU")) {
		return Fact{"virtual machine", "yes (" + strings.TrimSpace(string(vendor)) + ")", lost}
	}
	return Fact{Name: "virtual machine", Value: "not seen"}
}
