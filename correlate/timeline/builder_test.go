package timeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

const svc, hog, other = 100, 200, 300

var callNames = map[int32]string{
	0: "read", 1: "write", 7: "poll", 35: "nanosleep", 45: "recvfrom", 74: "fsync", 202: "futex", 232: "epoll_wait",
}

func name(nr int32) string { return callNames[nr] }

// piece is a segment as tests compare it.
type piece struct {
	Tid        int32
	Start, End Time
	Part       string
	Occupant   string
}

// build runs events through a builder and returns the segments of every thread.
func build(t *testing.T, losses []eventfile.Loss, end Time, events ...eventfile.Event) ([]piece, *Builder) {
	t.Helper()
	var out []piece
	var b *Builder
	b = New(func(s *Segment) {
		out = append(out, piece{s.Tid, s.Start, s.End, s.Part.String(), b.Tasks.Get(s.Occupant).Comm})
	}, NewLosses(losses), name)
	for i := range events {
		b.Add(&events[i])
	}
	b.Finish(end)
	return out, b
}

func target(tid int32, comm string) eventfile.Event {
	return eventfile.Event{Kind: eventfile.KindTask, Tid: tid, Tgid: tid, Comm: comm, Flags: eventfile.FlagTarget, Start: uint64(tid)}
}

func task(tid int32, comm string) eventfile.Event {
	return eventfile.Event{Kind: eventfile.KindTask, Tid: tid, Tgid: tid, Comm: comm}
}

func sw(at Time, cpu, prev, next int32, state uint32) eventfile.Event {
	return eventfile.Event{Kind: eventfile.KindSwitch, Time: at, CPU: cpu, Tid: prev, Peer: next, State: state, Syscall: eventfile.NoSyscall}
}

func blockIn(at Time, cpu, prev, next, nr int32) eventfile.Event {
	e := sw(at, cpu, prev, next, eventfile.StateInterruptible)
	e.Syscall = nr
	return e
}

func waking(at Time, cpu, tid, waker, dest int32) eventfile.Event {
	return eventfile.Event{Kind: eventfile.KindWaking, Time: at, CPU: cpu, Tid: tid, Peer: waker, DestCPU: dest}
}

func migrate(at Time, tid, dest int32) eventfile.Event {
	return eventfile.Event{Kind: eventfile.KindMigrate, Time: at, Tid: tid, DestCPU: dest}
}

func span(kind eventfile.Kind, cpu, tid int32, start, end Time) eventfile.Event {
	return eventfile.Event{Kind: kind, CPU: cpu, Tid: tid, Time: end, Dur: int64(end - start)}
}

func names() []eventfile.Event {
	return []eventfile.Event{target(svc, "scorer"), task(hog, "hog"), task(other, "other")}
}

func TestSegments(t *testing.T) {
	us := func(n int) Time { return Time(n * 1000) }
	inFault := func(e eventfile.Event, start Time) eventfile.Event { e.FaultStart = start; return e }
	throttled := func(e eventfile.Event) eventfile.Event { e.Flags |= eventfile.FlagThrottled; return e }
	dstate := func(e eventfile.Event) eventfile.Event { e.State = eventfile.StateUninterruptible; return e }
	tests := map[string]struct {
		losses []eventfile.Loss
		events []eventfile.Event
		end    Time
		want   []piece
	}{
		"preempted by one task, then a second": {
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), sw(us(20), 0, svc, hog, 0), sw(us(50), 0, hog, other, 0), sw(us(60), 0, other, svc, 0), sw(us(70), 0, svc, 0, 1),
			},
			end: us(70),
			want: []piece{
				{svc, us(10), us(20), "running", ""}, {svc, us(20), us(50), "preempted", "hog"},
				{svc, us(50), us(60), "preempted", "other"}, {svc, us(60), us(70), "running", ""},
			},
		},
		"woken behind a task that has the CPU": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, hog, 202), waking(us(10), 1, svc, other, 0), sw(us(30), 0, hog, svc, 0),
			},
			end: us(30),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "lock", ""}, {svc, us(10), us(30), "waking", "hog"},
			},
		},
		"leaving idle preempts nobody": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, 0, 35), waking(us(10), 0, svc, 0, 0), sw(us(12), 0, 0, svc, 0),
			},
			end: us(12),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "sleep", ""}, {svc, us(10), us(12), "waking", "idle"},
			},
		},
		"the CPU of the wakeup is where it ran before; it waits where it moved": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, 0, 7), waking(us(10), 1, svc, other, 0), migrate(us(10), svc, 1), sw(us(20), 1, other, svc, 0),
			},
			end: us(20),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "sleep", ""}, {svc, us(10), us(20), "waking", "other"},
			},
		},
		"it left a CPU that it was never seen to get: when its wait ended is unknown": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, hog, 202), waking(us(10), 1, svc, other, 0), blockIn(us(50), 0, svc, hog, 202),
				waking(us(60), 1, svc, other, 0), sw(us(61), 0, hog, svc, 0),
			},
			end: us(61),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "lock", ""},
				{svc, us(50), us(60), "lock", ""}, {svc, us(60), us(61), "waking", "hog"},
			},
		},
		"an interrupt proves that it had the CPU by then": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, hog, 202), waking(us(10), 1, svc, other, 0),
				span(eventfile.KindVector, 0, svc, us(30), us(31)), blockIn(us(50), 0, svc, hog, 202),
			},
			end: us(50),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "lock", ""},
				{svc, us(30), us(31), "irq", ""}, {svc, us(31), us(50), "running", ""},
			},
		},
		"an interrupt from before it left does not": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(20), 0, svc, hog, 202),
				span(eventfile.KindVector, 0, svc, us(18), us(21)), waking(us(30), 1, svc, other, 0),
			},
			end: us(30),
			want: []piece{
				{svc, us(1), us(20), "running", ""}, {svc, us(20), us(30), "lock", ""},
			},
		},
		"a thread whose quota is used up is throttled, whoever has the CPU": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), throttled(sw(us(500), 0, svc, hog, 0)), sw(us(900), 0, hog, 0, 1), sw(us(5000), 0, 0, svc, 0),
			},
			end: us(5000),
			want: []piece{
				{svc, us(1), us(500), "running", ""}, {svc, us(500), us(900), "throttled", ""}, {svc, us(900), us(5000), "throttled", ""},
			},
		},
		"a runnable thread whose CPU goes idle is throttled": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), sw(us(500), 0, svc, 0, 0), sw(us(5000), 0, 0, svc, 0),
			},
			end: us(5000),
			want: []piece{
				{svc, us(1), us(500), "running", ""}, {svc, us(500), us(5000), "throttled", ""},
			},
		},
		"a thread that the kernel says is out of quota is throttled, whoever has the CPU": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), throttled(sw(us(500), 0, svc, hog, 0)), sw(us(900), 0, hog, other, 0), sw(us(5000), 0, other, svc, 0),
				sw(us(5100), 0, svc, hog, 0), sw(us(5200), 0, hog, svc, 0),
			},
			end: us(5200),
			want: []piece{
				{svc, us(1), us(500), "running", ""}, {svc, us(500), us(900), "throttled", ""}, {svc, us(900), us(5000), "throttled", ""},
				{svc, us(5000), us(5100), "running", ""}, {svc, us(5100), us(5200), "preempted", "hog"},
			},
		},
		"woken out of quota on an idle CPU": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), blockIn(us(2), 0, svc, 0, 35), throttled(waking(us(10), 0, svc, 0, 0)), sw(us(5000), 0, 0, svc, 0),
			},
			end: us(5000),
			want: []piece{
				{svc, us(1), us(2), "running", ""}, {svc, us(2), us(10), "sleep", ""}, {svc, us(10), us(5000), "throttled", ""},
			},
		},
		"a wakeup that comes before the switch-out ends that wait": {
			events: []eventfile.Event{
				sw(us(1), 0, 0, svc, 0), waking(us(9), 1, svc, other, 0), blockIn(us(10), 0, svc, hog, 202), sw(us(20), 0, hog, svc, 0),
			},
			end: us(20),
			want: []piece{
				{svc, us(1), us(10), "running", ""}, {svc, us(10), us(20), "waking", ""},
			},
		},
		"a softirq is net of the interrupt inside it, and back-to-back spans do not nest": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0),
				span(eventfile.KindIRQ, 0, svc, us(12), us(15)), span(eventfile.KindSoftirq, 0, svc, us(10), us(20)),
				span(eventfile.KindVector, 0, svc, us(20), us(22)),
				sw(us(30), 0, svc, 0, 1),
			},
			end: us(30),
			want: []piece{
				{svc, us(0), us(10), "running", ""}, {svc, us(10), us(12), "softirq", ""}, {svc, us(12), us(15), "irq", ""},
				{svc, us(15), us(20), "softirq", ""}, {svc, us(20), us(22), "irq", ""}, {svc, us(22), us(30), "running", ""},
			},
		},
		"a major fault is on the CPU around its wait for the disk": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), dstate(inFault(sw(us(14), 0, svc, 0, 2), us(10))),
				waking(us(90), 0, svc, 0, 0), sw(us(95), 0, 0, svc, 0), span(eventfile.KindFault, 0, svc, us(10), us(98)), sw(us(100), 0, svc, 0, 1),
			},
			end: us(100),
			want: []piece{
				{svc, us(0), us(10), "running", ""}, {svc, us(10), us(14), "fault", ""}, {svc, us(14), us(90), "fault-io", ""},
				{svc, us(90), us(95), "waking", "idle"}, {svc, us(95), us(98), "fault", ""}, {svc, us(98), us(100), "running", ""},
			},
		},
		"a fault without an end does not make the next wait a fault": {
			events: []eventfile.Event{
				sw(us(0), 0, 0, svc, 0), inFault(sw(us(10), 0, svc, hog, 0), us(9)), sw(us(20), 0, hog, svc, 0),
				blockIn(us(30), 0, svc, 0, 232), waking(us(40), 0, svc, 0, 0), sw(us(40), 0, 0, svc, 0),
			},
			end: us(41),
			want: []piece{
				{svc, us(0), us(9), "running", ""}, {svc, us(9), us(10), "fault", ""}, {svc, us(10), us(20), "preempted", "hog"},
				{svc, us(20), us(30), "running", ""}, {svc, us(30), us(40), "net", ""}, {svc, us(40), us(41), "running", ""},
			},
		},
		"blocked since before the recording, and still at its end": {
			events: []eventfile.Event{
				{Kind: eventfile.KindSnapshot, Time: us(5), Tid: svc, CPU: 0, State: 1, Syscall: 35},
			},
			end:  us(15_000_000),
			want: []piece{{svc, us(5), us(15_000_000), "sleep", ""}},
		},
		"running when the recording began": {
			events: []eventfile.Event{
				{Kind: eventfile.KindSnapshot, Time: us(5), Tid: svc, CPU: 0, Flags: eventfile.FlagOnCPU, Syscall: -1}, sw(us(9), 0, svc, 0, 1),
			},
			end:  us(9),
			want: []piece{{svc, us(5), us(9), "running", ""}},
		},
		"after a loss on its CPU a running thread is unknown until its next event": {
			losses: []eventfile.Loss{{Source: eventfile.LossRing, CPU: 0, Count: 3, First: us(15), Last: us(16)}},
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), sw(us(20), 0, svc, hog, 0), sw(us(30), 0, hog, svc, 0), sw(us(40), 0, svc, 0, 1),
			},
			end: us(40),
			want: []piece{
				{svc, us(10), us(15), "running", ""}, {svc, us(20), us(30), "preempted", "hog"}, {svc, us(30), us(40), "running", ""},
			},
		},
		"a loss on another CPU leaves a running thread known, and a blocked one not": {
			losses: []eventfile.Loss{{Source: eventfile.LossRing, CPU: 1, Count: 3, First: us(15), Last: us(32)}},
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), blockIn(us(30), 0, svc, 0, 202), waking(us(50), 0, svc, 0, 0), sw(us(50), 0, 0, svc, 0), sw(us(60), 0, svc, 0, 1),
			},
			end: us(60),
			want: []piece{
				{svc, us(10), us(30), "running", ""}, {svc, us(50), us(60), "running", ""},
			},
		},
		"a missing switch-out leaves that stay unknown": {
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), sw(us(30), 0, hog, svc, 0), sw(us(40), 0, svc, 0, 1),
			},
			end:  us(40),
			want: []piece{{svc, us(30), us(40), "running", ""}},
		},
		"a step back in time is never a negative span": {
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), blockIn(us(20), 0, svc, 0, 7), waking(us(19), 1, svc, 0, 0), sw(us(25), 0, 0, svc, 0), sw(us(24), 0, svc, 0, 1),
			},
			end: us(30),
			want: []piece{
				{svc, us(10), us(20), "running", ""}, {svc, us(20), us(25), "waking", "idle"}, {svc, us(25), us(30), "blocked", ""},
			},
		},
		"exec in a thread that was not the leader goes on under the leader's tid": {
			events: []eventfile.Event{
				{Kind: eventfile.KindTask, Tid: 101, Tgid: svc, Comm: "worker", Flags: eventfile.FlagTarget, Start: 7},
				sw(us(10), 0, 0, 101, 0), {Kind: eventfile.KindExec, Time: us(20), Tid: svc, Peer: 101}, sw(us(30), 0, svc, 0, 1),
			},
			end:  us(30),
			want: []piece{{svc, us(10), us(30), "running", ""}},
		},
		"a start that becomes known is not another thread's": {
			events: []eventfile.Event{
				{Kind: eventfile.KindTask, Tid: 102, Tgid: svc, Comm: "worker", Flags: eventfile.FlagTarget},
				{Kind: eventfile.KindSnapshot, Time: us(5), Tid: 102, CPU: 0, State: 1, Syscall: 35},
				{Kind: eventfile.KindTask, Time: us(20), Tid: 102, Tgid: svc, Comm: "worker", Flags: eventfile.FlagTarget, Start: 999},
				waking(us(20), 0, 102, hog, 0), sw(us(22), 0, hog, 102, 0), sw(us(30), 0, 102, 0, 1),
			},
			end: us(30),
			want: []piece{
				{102, us(5), us(20), "sleep", ""}, {102, us(20), us(22), "waking", "hog"}, {102, us(22), us(30), "running", ""},
			},
		},
		"a reused tid starts afresh": {
			events: []eventfile.Event{
				sw(us(10), 0, 0, svc, 0), sw(us(20), 0, svc, 0, eventfile.StateDead),
				{Kind: eventfile.KindTask, Time: us(50), Tid: svc, Tgid: svc, Comm: "new", Flags: eventfile.FlagTarget, Start: 999},
				{Kind: eventfile.KindWakeupNew, Time: us(60), Tid: svc, Peer: other, DestCPU: 0}, sw(us(61), 0, 0, svc, 0), sw(us(70), 0, svc, 0, 1),
			},
			end: us(70),
			want: []piece{
				{svc, us(10), us(20), "running", ""}, {svc, us(60), us(61), "waking", "idle"}, {svc, us(61), us(70), "running", ""},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := build(t, tt.losses, tt.end, append(names(), tt.events...)...)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBlockedPart(t *testing.T) {
	const s, d = eventfile.StateInterruptible, eventfile.StateUninterruptible
	tests := []struct {
		call  string
		state uint32
		args  [3]uint64
		fd    FileType
		fault bool
		want  part.Part
	}{
		{call: "futex", state: s, want: part.Lock},
		{call: "clock_nanosleep", state: s, want: part.Sleep},
		{call: "epoll_wait", state: s, want: part.Net},
		{call: "poll", state: s, want: part.Sleep},
		{call: "poll", state: s, args: [3]uint64{0, 1}, want: part.Net},
		{call: "recvfrom", state: s, want: part.Net},
		{call: "fsync", state: d, want: part.IO},
		{call: "read", state: s, fd: FileSocket, want: part.Net},
		{call: "read", state: s, fd: FilePipe, want: part.Blocked},
		{call: "read", state: d, fd: FileRegular, want: part.IO},
		{call: "read", state: d, want: part.IO},
		{call: "", state: d, fault: true, want: part.FaultIO},
		{call: "recvfrom", state: eventfile.StateStopped, want: part.Stopped},
		{call: "", state: 0x100 | eventfile.StateTraced, want: part.Stopped},
		{call: "wait4", state: s, want: part.Blocked},
		{call: "mmap", state: d, want: part.Blocked},
	}
	for _, tt := range tests {
		b := &Block{State: tt.state, Syscall: tt.call, Args: tt.args}
		if got := blockedPart(b, tt.fault, tt.fd); got != tt.want {
			t.Errorf("blockedPart(%q, state %#x, fd %d, fault %t) = %s, want %s", tt.call, tt.state, tt.fd, tt.fault, got, tt.want)
		}
	}
}
