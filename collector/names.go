package collector

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

//go:generate go run ./internal/gensyscalls

// machineNames are the names that this machine has for the numbers in its
// events. A list that it lacks is left out: the numbers then stay numbers.
func machineNames() []eventfile.Name {
	names := irqNames("/sys/kernel/irq")
	if text, err := os.ReadFile("/proc/softirqs"); err == nil {
		names = append(names, softirqNames(text)...)
	}
	for _, nr := range slices.Sorted(maps.Keys(syscallNames)) {
		names = append(names, eventfile.Name{Class: "syscall", ID: nr, Name: syscallNames[nr]})
	}
	return names
}

// irqNames reads who handles each interrupt line.
func irqNames(dir string) []eventfile.Name {
	var names []eventfile.Name
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		line, err := strconv.ParseUint(e.Name(), 10, 32)
		if err != nil {
			continue
		}
		actions, err := os.ReadFile(filepath.Join(dir, e.Name(), "actions"))
		if name := strings.TrimSpace(string(actions)); err == nil && name != "" {
			names = append(names, eventfile.Name{Class: "irq", ID: uint32(line), Name: name})
		}
	}
	slices.SortFunc(names, func(a, b eventfile.Name) int { return int(a.ID) - int(b.ID) })
	return names
}

// softirqNames reads /proc/softirqs, whose rows are in the order of the
// vector numbers, below a row of CPUs.
func softirqNames(text []byte) []eventfile.Name {
	var names []eventfile.Name
	for line := range bytes.Lines(text) {
		name, _, ok := bytes.Cut(bytes.TrimSpace(line), []byte{':'})
		if !ok {
			continue
		}
		names = append(names, eventfile.Name{Class: "softirq", ID: uint32(len(names)), Name: string(name)})
	}
	return names
}
