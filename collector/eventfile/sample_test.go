package eventfile

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var sampleHeader = Header{
	Tool: "tailtrace 0.1.0", Host: "box", Kernel: "6.8.0", Arch: "arm64", CPUs: []int32{0, 2, 3},
	Started: 1_000_000_000, RealtimeOffset: 1_700_000_000_000_000_000,
	Targets:   []Target{{Pid: 70, Comm: "scorer", Cmdline: "scorer --port 1", Cgroup: "/system.slice"}},
	Hooks:     []Hook{{Name: "sched_switch", How: "tp_btf"}, {Name: "nmi_handler", Why: "not in this kernel", Lost: "NMI time"}},
	Options:   []string{"-pid", "70"},
	FaultTrap: -1, SampleHz: 99,
}

// sampleEvents has every kind with every field that the kind names, and times
// that step back.
func sampleEvents(from Time) []Event {
	return []Event{
		{Kind: KindTask, Time: from, Tid: 70, Tgid: 70, Flags: FlagTarget, Start: 12345, Comm: "scorer", Syscall: NoSyscall},
		{Kind: KindTask, Time: from, Tid: 71, Tgid: 71, Comm: "a b\x95[x 0]", Syscall: NoSyscall},
		{Kind: KindSnapshot, Time: from + 1, CPU: 2, Tid: 70, State: StateInterruptible, Syscall: 232, Flags: FlagOnCPU},
		{Kind: KindWaking, Time: from + 900, CPU: 2, Tid: 70, Peer: 71, DestCPU: 3, Flags: FlagSoftirq, Syscall: NoSyscall},
		{Kind: KindSwitch, Time: from + 1000, CPU: 3, Tid: 0, Peer: 70, Syscall: NoSyscall},
		{Kind: KindSwitch, Time: from + 950, CPU: 2, Tid: 71, Peer: 0, State: StateIdle, Syscall: UnknownSyscall},
		{Kind: KindFault, Time: from + 2000, CPU: 3, Tid: 70, Dur: 700, Addr: 0x7f00_0000_1000, Flags: FlagMajor | FlagUser, Syscall: NoSyscall},
		{Kind: KindIRQ, Time: from + 3000, CPU: 3, Tid: 70, Dur: 300, ID: 44, Flags: FlagHandled, Syscall: NoSyscall},
		{Kind: KindSoftirq, Time: from + 3100, CPU: 3, Tid: 70, Dur: 90, ID: 3, Syscall: NoSyscall},
		{Kind: KindVector, Time: from + 3200, CPU: 3, Tid: 70, Dur: 80, ID: uint32(VectorLocalTimer), Flags: FlagCut, Syscall: NoSyscall},
		{Kind: KindNMI, Time: from + 3300, CPU: 3, Tid: 70, Dur: -5, ID: 1, Syscall: NoSyscall},
		{Kind: KindSample, Time: from + 3400, CPU: 3, Tid: 70, Flags: FlagUser, Syscall: NoSyscall, Stack: 1<<63 + 1},
		{Kind: KindFork, Time: from + 3500, CPU: 3, Tid: 70, Peer: 72, Tgid: 70, Syscall: NoSyscall},
		{Kind: KindWakeupNew, Time: from + 3600, CPU: 3, Tid: 72, DestCPU: 2, Syscall: NoSyscall},
		{Kind: KindMigrate, Time: from + 3700, CPU: 3, Tid: 72, DestCPU: 0, Syscall: NoSyscall},
		{Kind: KindExec, Time: from + 3800, CPU: 0, Tid: 70, Peer: 72, Syscall: NoSyscall},
		{Kind: KindCounters, Time: from + 4000, CPU: 3, Tid: 70, Dur: 3000, ID: 1<<CounterCycles | 1<<CounterStalled,
			Counts: [Counters]uint64{9000, 0, 1<<64 - 1}, Away: 2500, Lag: 400, Syscall: NoSyscall},
		{Kind: KindSwitch, Time: from + 4000, CPU: 3, Tid: 70, Peer: 71, State: StateInterruptible, Syscall: 202,
			Args: [3]uint64{0x7f00_0000_2000, 128, 1<<64 - 1}, FaultStart: from + 3950, Owner: 71, FdType: 12, Stack: 5},
		{Kind: KindExit, Time: from + 4100, CPU: 3, Tid: 72, Flags: FlagLast, Syscall: NoSyscall},
	}
}

func sampleRecords(from Time) []any {
	return []any{
		&Window{
			Kind: "/score", Flags: WindowError, Pid: 70, ID: ID{Bytes: [16]byte{7}}, Begin: from, End: from + 4000,
			CPU: 3000, Tid: 70, EndTid: 71, Points: []Point{
				{Type: PointMark, Offset: 500, Name: "read"}, {Type: PointSuspend, Offset: 900},
				{Type: PointThread, Offset: 800, Tid: 71}, {Type: PointMark, Offset: 3900, Name: "read"},
			},
		},
		&Window{Span: true, Kind: "gc", Pid: 70, ID: ID{Bytes: [16]byte{1, 15: 9}, Raw: true}, Begin: from + 10, End: from + 20},
		&Loss{Source: LossRing, CPU: 3, Count: 17, First: from + 1, Last: from + 2, What: "events"},
		&Loss{Source: LossRecursion, CPU: -1, Count: 2},
		&BoxSample{
			Time: from + 100, RealtimeOffset: -5, CPUs: []CPUSample{{CPU: 0, Busy: 5, Steal: 1, IRQ: 2, FreqKHz: -1}, {CPU: 3}},
			PSI: [3]int64{1, 2, -1}, Interrupts: 9, Switches: 8, MemAvailable: 1 << 33, SwapIn: 3, Throttled: -1, AgentCPU: 77,
		},
		&Proc{Pid: 70, Comm: "scorer", Cmdline: "scorer --port 1", Cgroup: "/system.slice", Self: true, Target: true},
		&Note{Time: from + 5, Text: "the ring was replaced"},
		&Name{Class: "softirq", ID: 3, Name: "NET_RX"},
		&Stack{ID: 1<<63 + 1, Pid: 70, Frames: []Frame{
			{Addr: 0xffff_ffff_8100_0010, Module: "[kernel]", Symbol: "schedule"},
			{Addr: 0x7f00_0000_3000, Offset: 0x3000, Module: "/usr/bin/scorer", BuildID: "c0ffee"},
			{Symbol: FrameCut},
		}},
	}
}

// add writes a value of any type that a Writer takes.
func add(t testing.TB, w *Writer, values ...any) {
	t.Helper()
	for _, v := range values {
		var err error
		switch v := v.(type) {
		case Event:
			err = w.Event(&v)
		case *Window:
			err = w.Window(v)
		case *Loss:
			err = w.Loss(v)
		case *BoxSample:
			err = w.Box(v)
		case *Proc:
			err = w.Proc(v)
		case *Note:
			err = w.Note(v)
		case *Name:
			err = w.Name(v)
		case *Stack:
			err = w.Stack(v)
		case *Mapping:
			err = w.Mapping(v)
		case *Fd:
			err = w.Fd(v)
		default:
			t.Fatalf("%T cannot be written", v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func addEvents(t testing.TB, w *Writer, events []Event) {
	t.Helper()
	for _, e := range events {
		add(t, w, e)
	}
}

// writeFile returns a file that fill wrote, ended in order.
func writeFile(t testing.TB, fill func(w *Writer)) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, &sampleHeader)
	if err != nil {
		t.Fatal(err)
	}
	fill(w)
	if err := w.Close(&End{Time: 99_000_000_000, Reason: "signal"}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// sampleFile has three kernel blocks and three blocks of records.
func sampleFile(t testing.TB) []byte {
	return writeFile(t, func(w *Writer) {
		for i := range 3 {
			from := Time(2+i) * 1_000_000_000
			addEvents(t, w, sampleEvents(from))
			add(t, w, sampleRecords(from)...)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// contents is all that a Reader delivers from a file.
type contents struct {
	Events  []Event // without repeats
	Records []any   // without losses that Reader adds
	Gaps    []Loss  // those
	Summary Summary
}

func readAll(t testing.TB, r io.Reader) contents {
	t.Helper()
	f, err := NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, f)
}

func drain(t testing.TB, f *Reader) (c contents) {
	t.Helper()
	for f.Next() {
		e := f.Event()
		if (e == nil) == (f.Meta() == nil) {
			t.Fatalf("Next went to event %v and record %v", e, f.Meta())
		}
		if e != nil {
			if !e.repeats() {
				c.Events = append(c.Events, *e)
			}
			continue
		}
		if l, ok := f.Meta().(*Loss); ok && l.Source == LossFile {
			c.Gaps = append(c.Gaps, *l)
			continue
		}
		c.Records = append(c.Records, f.Meta())
	}
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	c.Summary = f.Summary()
	return c
}

func checkEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// checkRecordsOnly reads a file without its events. All else must be the same.
func checkRecordsOnly(t *testing.T, file []byte, want contents) {
	t.Helper()
	f, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	f.MetaOnly()
	want.Events = nil
	checkEqual(t, "file without its events", drain(t, f), want)
}
