package collector

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

var pressures = [3]string{"cpu", "memory", "io"}

// boxReader samples the whole machine. What it lacks is absent, never 0.
type boxReader struct {
	stat, meminfo, vmstat *procFile
	pressure              [3]*procFile
	freq                  map[int32]*procFile
	throttle              *throttleReader
	cpus                  []int32
	before                boxCounters
}

// boxCounters are counters since boot, and of this process since its start.
type boxCounters struct {
	stat      statCounters
	pressure  [3]int64
	swapIn    int64
	throttled int64
	agent     int64
}

// openBox opens what this machine has; pid is the process whose cgroup's
// throttling is of interest.
func openBox(cpus []int32, pid int32) (*boxReader, error) {
	b := &boxReader{cpus: cpus, freq: make(map[int32]*procFile), throttle: openThrottle(pid)}
	if b.stat = openIfAny("/proc/stat"); b.stat == nil {
		b.close()
		return nil, errors.New("open /proc/stat: this machine has no readable one")
	}
	b.meminfo, b.vmstat = openIfAny("/proc/meminfo"), openIfAny("/proc/vmstat")
	for i, name := range pressures {
		b.pressure[i] = openIfAny("/proc/pressure/" + name)
	}
	b.openFreq(cpus)
	var err error
	b.before, err = b.counters()
	return b, err
}

// openIfAny returns nil for a file that this machine lacks, or that is as good
// as absent: a masked file of a container.
func openIfAny(path string) *procFile {
	f, err := openProcFile(path)
	if err != nil {
		return nil
	}
	return f
}

// openFreq opens the clocks of CPUs, which go with them when they go offline.
func (b *boxReader) openFreq(cpus []int32) {
	for _, cpu := range cpus {
		b.freq[cpu].Close()
		b.freq[cpu] = openIfAny(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu))
	}
}

// change says which CPUs are online now, and which of them have just come.
func (b *boxReader) change(online, came []int32) {
	b.cpus = online
	b.openFreq(came)
}

func (b *boxReader) counters() (boxCounters, error) {
	text, err := b.stat.read()
	if err != nil {
		return boxCounters{}, err
	}
	c := boxCounters{
		stat:      parseStat(text),
		swapIn:    b.keyed(b.vmstat, "pswpin"),
		throttled: b.throttle.read(),
		agent:     agentCPU(),
	}
	for i, f := range b.pressure {
		text, err := f.read()
		if err != nil { // turned off at boot: EOPNOTSUPP
			text = nil
		}
		c.pressure[i] = parsePressure(text)
	}
	return c, nil
}

func (b *boxReader) keyed(f *procFile, key string) int64 {
	text, err := f.read()
	if err != nil {
		return absent
	}
	return parseKeyed(text, key)
}

// sample returns the machine's state and what happened since the last sample.
func (b *boxReader) sample() (eventfile.BoxSample, error) {
	c, err := b.counters()
	if err != nil {
		return eventfile.BoxSample{}, err
	}
	s := eventfile.BoxSample{
		Time:           now(),
		RealtimeOffset: realtimeOffset(),
		Interrupts:     since(b.before.stat.interrupts, c.stat.interrupts),
		Switches:       since(b.before.stat.switches, c.stat.switches),
		MemAvailable:   absent,
		SwapIn:         since(b.before.swapIn, c.swapIn),
		Throttled:      since(b.before.throttled, c.throttled),
		AgentCPU:       since(b.before.agent, c.agent),
	}
	for i := range pressures {
		s.PSI[i] = since(b.before.pressure[i], c.pressure[i])
	}
	if kib := b.keyed(b.meminfo, "MemAvailable"); kib >= 0 {
		s.MemAvailable = kib << 10
	}
	for _, cpu := range b.cpus {
		s.CPUs = append(s.CPUs, b.cpuSample(cpu, &c))
	}
	b.before = c
	return s, nil
}

func (b *boxReader) cpuSample(cpu int32, c *boxCounters) eventfile.CPUSample {
	s := eventfile.CPUSample{CPU: cpu, Busy: absent, Steal: absent, IRQ: absent, FreqKHz: absent}
	old, was := b.before.stat.cpus[cpu]
	new, is := c.stat.cpus[cpu]
	if was && is {
		s.Busy = since(old.busy, new.busy)
		s.Steal = since(old.steal, new.steal)
		s.IRQ = since(old.irq, new.irq)
	}
	if text, err := b.freq[cpu].read(); err == nil {
		s.FreqKHz = firstNumber(text)
	}
	return s
}

// since is the growth of a counter. The kernel lets some of them step back a
// little (idle CPUs, steal); that is no negative time.
func since(before, after int64) int64 {
	if before == absent || after == absent {
		return absent
	}
	return max(after-before, 0)
}

// agentCPU is the CPU time of this process, ns.
func agentCPU() int64 {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return absent
	}
	return ru.Utime.Nano() + ru.Stime.Nano()
}

func (b *boxReader) close() {
	b.stat.Close()
	b.meminfo.Close()
	b.vmstat.Close()
	for _, f := range b.pressure {
		f.Close()
	}
	for _, f := range b.freq {
		f.Close()
	}
	b.throttle.close()
}
