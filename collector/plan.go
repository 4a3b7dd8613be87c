package collector

import (
	"runtime"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// A method is how a source is attached.
type method string

const (
	tpBTF      method = "tp_btf"
	rawTP      method = "raw_tp"
	perfFaults method = "perf software events"
	perfClock  method = "perf cpu-clock"
	taskIter   method = "iter/task"
	procTasks  method = "/proc"
)

// A source is one hook of the plan: the programs that must be attached
// together for it to mean anything.
type source struct {
	name   string
	how    method
	progs  []string
	points []string // the kernel tracepoints that it needs, tpBTF and rawTP only
	arch   string   // "" = every
	must   bool     // without it there is nothing to record
	lost   string   // what cannot be said without it
}

func point(name, lost string) source {
	return source{name: name, how: tpBTF, progs: []string{name}, points: []string{name}, lost: lost}
}

func pair(name, stem, arch, lost string) source {
	both := []string{stem + "_entry", stem + "_exit"}
	return source{name: name, how: tpBTF, progs: both, points: both, arch: arch, lost: lost}
}

// sources is the whole plan, in the order of attaching. What announces
// threads comes before what asks for their state.
func sources() []source {
	sw := point("sched_switch", "everything")
	sw.must = true
	return []source{
		point("sched_process_fork", "child processes, and who started a thread"),
		point("sched_process_exec", "when a process became another program"),
		point("sched_process_exit", "when a thread ended"),
		sw,
		point("sched_wakeup", "who occupied the CPU while a woken thread waited for it"),
		point("sched_wakeup_new", "how long a new thread waited for its first run"),
		point("sched_migrate_task", "on which CPU a waiting thread waited"),
		point("sched_waking", "who woke a thread and when: waking time counts as blocked time"),
		pair("irq_handler", "irq_handler", "", "device interrupts, which count as running; an interrupted task may be named as the waker"),
		pair("softirq", "softirq", "", "softirqs, which count as running; an interrupted task may be named as the waker"),
		pair("irq_vectors:local_timer", "local_timer", "amd64", "timer interrupts, which count as running"),
		pair("irq_vectors:reschedule", "reschedule", "amd64", "reschedule interrupts, which count as running"),
		pair("irq_vectors:call_function", "call_function", "amd64", "function call interrupts, which count as running"),
		pair("irq_vectors:call_function_single", "call_function_single", "amd64", "function call interrupts, which count as running"),
		pair("irq_vectors:irq_work", "irq_work", "amd64", "irq work, which counts as running"),
		pair("ipi", "ipi", "arm64", "interrupts from other CPUs apart from other interrupts"),
		{name: "nmi_handler", how: tpBTF, progs: []string{bpf.KernelProgNmiHandler}, points: []string{"nmi_handler"}, arch: "amd64",
			lost: "non-maskable interrupts, which count as running"},
		{name: "page_faults", how: perfFaults,
			progs: []string{bpf.KernelProgFaultBegin, bpf.KernelProgFaultMinor, bpf.KernelProgFaultMajor},
			lost:  "page faults, which count as running or blocked"},
		{name: "cpu_clock", how: perfClock, progs: []string{bpf.KernelProgSample},
			lost: "what the CPUs ran between switches"},
		{name: "task_snapshot", how: taskIter, progs: []string{bpf.KernelProgSnapshot},
			lost: "the state of threads that were off the CPU when recording began"},
	}
}

// withoutTypes is s on a kernel that does not know its types.
func (s source) withoutTypes() source {
	switch s.how {
	case tpBTF:
		s.how = rawTP
	case taskIter:
		s.how, s.progs = procTasks, nil
	}
	return s
}

// ours reports whether this architecture has the source at all.
func (s *source) ours() bool { return s.arch == "" || s.arch == runtime.GOARCH }

func (s *source) on() eventfile.Hook {
	return eventfile.Hook{Name: s.name, How: string(s.how)}
}

func (s *source) off(why string) eventfile.Hook {
	return eventfile.Hook{Name: s.name, Why: why, Lost: s.lost}
}
