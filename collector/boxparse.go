package collector

import (
	"bytes"
	"strconv"
)

// absent is a figure that this machine does not have.
const absent = -1

// nsPerTick is the unit of /proc/stat: USER_HZ is 100 on all of Linux's
// architectures but alpha and ia64.
const nsPerTick = 10_000_000

// cpuTimes are counters since boot, ns.
type cpuTimes struct {
	busy, steal, irq int64
}

// statCounters is /proc/stat, since boot.
type statCounters struct {
	cpus       map[int32]cpuTimes
	interrupts int64
	switches   int64
}

func parseStat(text []byte) statCounters {
	s := statCounters{cpus: make(map[int32]cpuTimes), interrupts: absent, switches: absent}
	for line := range bytes.Lines(text) {
		key, rest, _ := bytes.Cut(line, []byte{' '})
		switch {
		case bytes.Equal(key, []byte("intr")):
			s.interrupts = firstNumber(rest)
		case bytes.Equal(key, []byte("ctxt")):
			s.switches = firstNumber(rest)
		case len(key) > 3 && bytes.HasPrefix(key, []byte("cpu")):
			if cpu, err := strconv.ParseInt(string(key[3:]), 10, 32); err == nil {
				s.cpus[int32(cpu)] = parseCPUTimes(rest)
			}
		}
	}
	return s
}

// parseCPUTimes reads the columns user, nice, system, idle, iowait, irq,
// softirq, steal; guest time, which follows, is in user and nice already.
func parseCPUTimes(columns []byte) cpuTimes {
	var v [8]int64
	i := 0
	for f := range bytes.FieldsSeq(columns) {
		if i == len(v) {
			break
		}
		v[i], _ = strconv.ParseInt(string(f), 10, 64)
		i++
	}
	return cpuTimes{
		busy:  (v[0] + v[1] + v[2] + v[5] + v[6]) * nsPerTick,
		irq:   (v[5] + v[6]) * nsPerTick,
		steal: v[7] * nsPerTick,
	}
}

// parsePressure returns the total of the "some" line of a file of
// /proc/pressure, ns.
func parsePressure(text []byte) int64 {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, ok := bytes.Cut(line, []byte("total="))
		if !ok {
			return absent
		}
		us := firstNumber(total)
		if us < 0 {
			return absent
		}
		return us * 1000
	}
	return absent
}

// parseKeyed returns the number after key at the start of a line, as in
// /proc/meminfo, /proc/vmstat and a cgroup's cpu.stat.
func parseKeyed(text []byte, key string) int64 {
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte(key))
		if ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == ':') {
			return firstNumber(rest[1:])
		}
	}
	return absent
}

// firstNumber returns the first word as a number, or absent.
func firstNumber(text []byte) int64 {
	for f := range bytes.FieldsSeq(text) {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return absent
		}
		return n
	}
	return absent
}
