package correlate

import (
	"cmp"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// Evidence is one observation about a request, with its measure. What says
// which; the fields that it uses are listed at the constants.
type Evidence struct {
	What    string   `json:"what"`
	Part    string   `json:"part,omitempty"`
	Name    string   `json:"name,omitempty"`
	Pid     int32    `json:"pid,omitempty"`
	Tid     int32    `json:"tid,omitempty"`
	Cmdline string   `json:"cmdline,omitempty"`
	Cgroup  string   `json:"cgroup,omitempty"`
	Unit    string   `json:"unit,omitempty"` // the cgroup as people know it, or what a kernel thread does
	Object  string   `json:"object,omitempty"`
	Context string   `json:"context,omitempty"`
	Request string   `json:"request,omitempty"`
	Step    string   `json:"step,omitempty"`  // of Request
	State   string   `json:"state,omitempty"` // a part
	Calls   []string `json:"calls,omitempty"` // the innermost first
	NS      int64    `json:"ns,omitempty"`
	Count   int64    `json:"count,omitempty"`
	Depth   int      `json:"depth,omitempty"`
	Value   *float64 `json:"value,omitempty"`
	Normal  *float64 `json:"normal,omitempty"`
}

const (
	// EvidenceOccupant had the CPU for NS while the request waited in Part.
	EvidenceOccupant = "occupant"
	// EvidenceWait is NS in Part, blocked in the system call Name (""
	// outside of one) on Object, Count waits.
	EvidenceWait = "wait"
	// EvidenceWaker ended a wait in Part of NS. Context says that an
	// interrupt did it; then no task is named.
	EvidenceWaker = "waker"
	// EvidenceHolder is the thread in the owner word of the futex waited for.
	EvidenceHolder = "holder"
	// EvidenceWakerWas says what the thread of the service that ended a wait
	// in Part did meanwhile: Context (of State), for NS, in Request and Step.
	// Depth counts the threads between it and the request that waited for each
	// other. Calls are where it blocked, or where most of the Count samples
	// found it that have that innermost function.
	EvidenceWakerWas = "waker-was"
	// EvidenceHolderWas is the same of the thread in the owner word.
	EvidenceHolderWas = "holder-was"
	// EvidenceInterrupt is NS in the interrupt or softirq Name, Count times.
	EvidenceInterrupt = "interrupt"
	// EvidenceThrottled is NS out of quota in Unit, Cgroup. Value is for how
	// long the kernel counted that cgroup and those above it as throttled
	// around the request, ns of all CPUs; it is absent where there is no
	// counter, and an idle CPU alone has told it.
	EvidenceThrottled = "throttled"
	// EvidenceFaults is Count page faults (Name says which) in Object, NS
	// inside. Context may say that they were first touches of its pages.
	EvidenceFaults = "faults"
	// EvidenceFaultTrap estimates NS for trapping into Count page faults
	// beyond the normal number; the parts hold it as running.
	EvidenceFaultTrap = "fault-trap-estimate"
	// EvidenceMissedFaults: Count page faults at most, of whoever, are missing
	// in the trace meanwhile. The parts hold theirs as running.
	EvidenceMissedFaults = "missed-faults"
	// EvidenceRequest had the thread for NS while this one waited.
	EvidenceRequest = "other-request"
	// EvidenceClient is NS with the service idle, Context: "before" it had
	// the request, or "after" it had answered.
	EvidenceClient = "client"
	// EvidenceSpan is a runtime span Name that overlapped for NS.
	EvidenceSpan = "span"
	// EvidenceStep ran for Value times its normal time, NS above it.
	EvidenceStep = "step"
	// EvidenceStretch: the steps ran for Value times their normal time.
	EvidenceStretch = "stretch"
	// EvidenceAway: for NS at least its CPU was away while the thread had it:
	// the kernel did not charge the thread for it, as when a hypervisor runs
	// something else and says so.
	EvidenceAway = "cpu-away"
	// EvidenceLateSwitch: for NS its CPU did not switch to a task that it had
	// been told to. The clock by which threads are charged stood still, so it
	// is not known whether the thread ran on in a long section of the kernel,
	// interrupts did, or the CPU was away. The kernel does not charge the
	// thread for it, and counts it as a wait for the CPU (the run delay of
	// /proc/PID/schedstat), which it was not.
	EvidenceLateSwitch = "late-switch"
	// EvidenceUnseen: for NS at least the thread did not have the CPU that the
	// parts say it ran on: the kernel did not report that it left it.
	EvidenceUnseen = "unseen-switches"
	// EvidenceInstructions: how many instructions its stays on the CPU took,
	// the kernel's included. This and the next three are of stays that it had
	// to itself, and absent where nothing counted or others shared them.
	EvidenceInstructions = "instructions"
	// EvidencePerCycle: instructions in a cycle.
	EvidencePerCycle = "instructions-per-cycle"
	// EvidenceCyclesPerNS: cycles in a ns on the CPU, the clock that it had.
	EvidenceCyclesPerNS = "cycles-per-ns"
	// EvidenceStalled: the share of cycles in which the core's back end
	// waited, for memory above all.
	EvidenceStalled = "stalled"
	// EvidenceOtherCPUs: the share of the other CPUs' time that was busy.
	EvidenceOtherCPUs = "other-cpus-busy"
	// EvidenceOtherTask was seen on another CPU in Count samples.
	EvidenceOtherTask = "other-cpu-task"
	// EvidenceSteal: the share of its CPU that the hypervisor took.
	EvidenceSteal = "steal"
	// EvidenceFrequency: kHz of its CPU.
	EvidenceFrequency = "frequency"
	// EvidenceCold: untraced tasks had its CPU for Value ns since the service
	// had it before: its caches may have been cold.
	EvidenceCold = "cold"
	// EvidenceSampleGap: it had the CPU for Value ns without a tick of the
	// sampling clock, whose period is Normal: the CPU itself was away.
	EvidenceSampleGap = "sample-gap"
)

// minEvidence is the time below which an observation is not worth a line.
const minEvidence = 10_000 // ns

// evidence lists what was observed about r, what weighs most first.
func (rec *Recording) evidence(r *Request, x *Explanation, trap int64) []Evidence {
	var list []Evidence
	if st := r.story; st != nil {
		list = rec.occupantEvidence(list, st)
		list = rec.blockEvidence(list, st)
		list = rec.chainEvidence(list, st)
		list = rec.spanEvidence(list, st)
		list = rec.otherEvidence(list, st)
	}
	list = rec.throttledEvidence(list, r)
	if r.SpanName != "" && r.Spans >= minEvidence {
		list = append(list, Evidence{What: EvidenceSpan, Name: r.SpanName, NS: r.Spans})
	}
	if trap > 0 {
		list = append(list, Evidence{What: EvidenceFaultTrap, NS: trap, Count: r.faults() - r.group.Base.Faults})
	}
	sortEvidence(list)
	if x.Excess[part.Running] > 0 {
		list = append(list, rec.runningEvidence(r, x)...)
	}
	return list
}

func sortEvidence(list []Evidence) {
	slices.SortStableFunc(list, func(a, b Evidence) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.What, b.What), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tid, b.Tid), cmp.Compare(a.Context, b.Context))
	})
}

func (rec *Recording) occupantEvidence(list []Evidence, st *story) []Evidence {
	for k, ns := range st.occupants {
		if ns < minEvidence || k.task == 0 {
			continue
		}
		e := rec.taskEvidence(EvidenceOccupant, k.task)
		e.Part, e.NS = k.part.String(), ns
		list = append(list, e)
	}
	return list
}

// taskEvidence names a task as well as the recording can.
func (rec *Recording) taskEvidence(what string, ref timeline.Ref) Evidence {
	t := rec.tasks.Get(ref)
	e := Evidence{What: what, Name: t.Comm, Pid: t.Tgid, Tid: t.Tid}
	if t.Kthread && t.Tid != 0 {
		e.Unit = kernelThread(&t)
		return e
	}
	if p, ok := rec.Procs[t.Tgid]; ok && t.Tgid != 0 {
		e.Cmdline, e.Cgroup, e.Unit = p.Cmdline, p.Cgroup, unitName(p.Cgroup)
		if p.Self {
			e.Name, e.Unit = "tailtrace", "this recording"
		}
	}
	return e
}

func (rec *Recording) blockEvidence(list []Evidence, st *story) []Evidence {
	type key struct {
		part         part.Part
		call, object string
	}
	waits := map[key]*tally{}
	longest := map[part.Part]*blocked{}
	for i := range st.blocks {
		b := &st.blocks[i]
		if !b.part.Voluntary() && b.part != part.Stopped && b.part != part.FaultIO {
			continue
		}
		k := key{b.part, b.block.Syscall, rec.places.object(b.block)}
		if waits[k] == nil {
			waits[k] = &tally{}
		}
		waits[k].ns += b.ns
		waits[k].count++
		if l := longest[b.part]; l == nil || b.ns > l.ns {
			longest[b.part] = b
		}
	}
	for k, t := range waits {
		if t.ns >= minEvidence {
			list = append(list, Evidence{What: EvidenceWait, Part: k.part.String(), Name: k.call, Object: k.object, NS: t.ns, Count: t.count})
		}
	}
	for p, b := range longest {
		if b.ns >= minEvidence {
			list = rec.wakerEvidence(list, p, b)
		}
	}
	return list
}

func (rec *Recording) wakerEvidence(list []Evidence, p part.Part, b *blocked) []Evidence {
	if b.block.Woken != 0 {
		e := Evidence{What: EvidenceWaker, Context: wakeContext(b.block.WakerBy)}
		if e.Context == "" {
			e = rec.taskEvidence(EvidenceWaker, b.block.Waker)
		}
		e.Part, e.NS = p.String(), b.ns
		list = append(list, e)
	}
	if b.block.Owner != 0 {
		e := rec.taskEvidence(EvidenceHolder, rec.tasks.Now(b.block.Owner))
		e.Part, e.NS, e.Tid = p.String(), b.ns, b.block.Owner
		list = append(list, e)
	}
	return list
}

func wakeContext(f eventfile.Flags) string {
	switch {
	case f&eventfile.FlagNMI != 0:
		return "nmi"
	case f&eventfile.FlagHardirq != 0:
		return "hardirq"
	case f&eventfile.FlagSoftirq != 0:
		return "softirq"
	}
	return ""
}

func (rec *Recording) spanEvidence(list []Evidence, st *story) []Evidence {
	for k, t := range st.spans {
		var flags eventfile.Flags
		if k.major {
			flags = eventfile.FlagMajor
		}
		e := Evidence{What: EvidenceInterrupt, Part: levelPartOf(k.kind).String(), Name: rec.SpanName(k.kind, k.id, flags), NS: t.ns, Count: t.count}
		if k.kind == eventfile.KindFault {
			e.What, e.Object = EvidenceFaults, k.at.name
			if k.at.firstTouch && !k.major {
				e.Context = firstTouch
			}
		}
		if t.ns >= minEvidence {
			list = append(list, e)
		}
	}
	return list
}

// firstTouch is what EvidenceFaults says of pages that the process had not
// mapped yet, or that the kernel had taken away since.
const firstTouch = "first touch"

// throttledEvidence proves that r was out of quota, as far as it can be.
func (rec *Recording) throttledEvidence(list []Evidence, r *Request) []Evidence {
	ns := r.Parts[part.Throttled]
	if ns < minEvidence || r.Window == nil {
		return list
	}
	e := Evidence{What: EvidenceThrottled, Part: part.Throttled.String(), NS: ns, Pid: r.Window.Pid}
	p := rec.Procs[r.Window.Pid]
	e.Cgroup, e.Unit = p.Cgroup, unitName(p.Cgroup)
	f, n := &r.boxFigures, &r.group.Base.Box
	isCounted := len(rec.Header.Targets) > 0 && rec.Header.Targets[0].Cgroup == p.Cgroup
	if isCounted && f.HasThrottled && n.HasThrottled {
		e.Value, e.Normal = figure(f.Throttled), figure(n.Throttled)
	}
	return append(list, e)
}

func levelPartOf(k eventfile.Kind) part.Part {
	switch k {
	case eventfile.KindIRQ, eventfile.KindVector:
		return part.IRQ
	case eventfile.KindSoftirq:
		return part.Softirq
	case eventfile.KindNMI:
		return part.NMI
	}
	return part.Fault
}

func (rec *Recording) otherEvidence(list []Evidence, st *story) []Evidence {
	for context, ns := range map[string]int64{"before": st.before, "after": st.after} {
		if ns >= minEvidence {
			list = append(list, Evidence{What: EvidenceClient, Part: part.Client.String(), Context: context, NS: ns})
		}
	}
	for i, ns := range st.others {
		if ns >= minEvidence && i >= 0 {
			list = append(list, Evidence{What: EvidenceRequest, Part: part.OtherRequest.String(), Request: rec.requests[i].Label(), NS: ns})
		}
	}
	return list
}
