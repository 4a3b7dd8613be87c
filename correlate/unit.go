package correlate

import (
	"path"
	"strings"

	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// shortID is how much of a container's id its runtime shows.
const shortID = 12

// unitName reduces a cgroup path to what a person knows it by: the container
// or the systemd unit, "" in the root cgroup.
func unitName(cgroup string) string {
	for dir := path.Clean("/" + cgroup); dir != "/"; dir = path.Dir(dir) {
		name := path.Base(dir)
		if id := containerID(name); id != "" {
			return "container " + id[:shortID]
		}
		if strings.HasSuffix(name, ".service") || strings.HasSuffix(name, ".scope") {
			return unescapeUnit(name)
		}
	}
	if clean := path.Clean("/" + cgroup); clean != "/" {
		return "cgroup " + clean
	}
	return ""
}

// containerID returns the id in names like that of Docker
// (docker-ID.scope, ID), containerd, CRI-O and Podman; "" where there is none.
func containerID(name string) string {
	name = strings.TrimSuffix(name, ".scope")
	name = name[strings.LastIndexAny(name, "-:")+1:]
	if len(name) != 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return ""
	}
	return name
}

// unescapeUnit undoes the one escape that is common in unit names.
func unescapeUnit(name string) string { return strings.ReplaceAll(name, `\x2d`, "-") }

// kernelWork says what well-known kernel threads do.
var kernelWork = map[string]string{
	"ksoftirqd": "softirqs put off",
	"kworker":   "queued work",
	"migration": "moves tasks between CPUs",
	"rcu_sched": "RCU", "rcu_preempt": "RCU", "rcuc": "RCU", "rcuop": "RCU", "rcuog": "RCU",
	"kswapd": "reclaims memory", "kcompactd": "compacts memory", "khugepaged": "makes huge pages",
	"jbd2": "writes a file system's journal", "irq": "a threaded interrupt handler", "cpuhp": "CPU hotplug",
	"watchdog": "looks for stalls",
}

// kernelThread names a kernel thread for what it is.
func kernelThread(t *timeline.Task) string {
	stem := t.Comm
	if i := strings.IndexAny(stem, "/-:"); i > 0 {
		stem = stem[:i]
	}
	if work := kernelWork[strings.TrimRight(stem, "0123456789")]; work != "" {
		return "kernel thread: " + work
	}
	return "kernel thread"
}
