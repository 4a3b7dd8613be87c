package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
)

// The stacks of the recording below.
const (
	handleStack = 1 // every request
	slowStack   = 2 // the slow ones
	diskStack   = 3 // where the slow ones wait
)

var profiledStacks = []eventfile.Stack{
	{ID: handleStack, Frames: []eventfile.Frame{
		{Addr: 0x1010, Offset: 0x10, Module: "/bin/svc", Symbol: "parse"},
		{Addr: 0x1020, Offset: 0x20, Module: "/bin/svc", Symbol: "handle"},
	}},
	{ID: slowStack, Frames: []eventfile.Frame{
		{Addr: 0x7010, Offset: 0x7010, Module: "/lib/libx.so", BuildID: "c0ffee"},
		{Addr: 0x1030, Offset: 0x30, Module: "/bin/svc", Symbol: "lookup; slow"},
		{Addr: 0x1030, Offset: 0x30, Module: "/bin/svc", Symbol: "lookup; slow"},
		{Addr: 0x1020, Offset: 0x20, Module: "/bin/svc", Symbol: "handle"},
	}},
	{ID: diskStack, Frames: []eventfile.Frame{
		{Addr: 0xffffffff81000010, Module: "[kernel]", Symbol: "schedule"},
		{Addr: 0x7f0000000010, Offset: 0x10, Module: "/lib/libc.so.6", Symbol: "read"},
		{Symbol: eventfile.FrameCut},
	}},
}

// profiled analyzes 300 requests of 1 ms with a sample in each; the three slow
// ones also have ten samples in slowStack and wait 2 ms in diskStack.
func profiled(t *testing.T) *correlate.Result {
	t.Helper()
	var file bytes.Buffer
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := eventfile.NewWriter(&file, &eventfile.Header{Started: 1e9, SampleHz: 100, FaultTrap: -1})
	must(err)
	now := eventfile.Time(1e9)
	event := func(e eventfile.Event) {
		e.Time, e.Syscall = now, eventfile.NoSyscall
		must(w.Event(&e))
	}
	event(eventfile.Event{Kind: eventfile.KindTask, Tid: 7, Tgid: 7, Flags: eventfile.FlagTarget, Start: 1})
	event(eventfile.Event{Kind: eventfile.KindSnapshot, Tid: 7, Flags: eventfile.FlagOnCPU})
	for i := range 300 {
		win := eventfile.Window{Kind: "r", Begin: now, Tid: 7, EndTid: 7}
		win.ID.Bytes[0], win.ID.Bytes[1] = byte(i), byte(i>>8)
		now += 500_000
		event(eventfile.Event{Kind: eventfile.KindSample, Tid: 7, Stack: handleStack})
		if i%100 == 50 {
			for range 10 {
				now += 200_000
				event(eventfile.Event{Kind: eventfile.KindSample, Tid: 7, Stack: slowStack})
			}
			event(eventfile.Event{Kind: eventfile.KindSwitch, Tid: 7, State: eventfile.StateUninterruptible, Stack: diskStack})
			now += 2_000_000
			event(eventfile.Event{Kind: eventfile.KindWaking, Tid: 7})
			event(eventfile.Event{Kind: eventfile.KindSwitch, Peer: 7})
		}
		now += 500_000
		win.End = now
		must(w.Window(&win))
	}
	for i := range profiledStacks {
		must(w.Stack(&profiledStacks[i]))
	}
	must(w.Close(&eventfile.End{Time: now}))
	res, err := correlate.Analyze(
		func() (*eventfile.Reader, error) { return eventfile.NewReader(bytes.NewReader(file.Bytes())) }, nil,
		correlate.Options{Tail: 0.01, Profile: func([]*correlate.Request) func(*correlate.Request) correlate.Side {
			return func(r *correlate.Request) correlate.Side {
				if r.Tail {
					return correlate.SideOf
				}
				return correlate.SideRest
			}
		}})
	must(err)
	return res
}

func function(t *testing.T, p *Profile, name string) Function {
	t.Helper()
	for _, f := range p.Functions {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("%q is not in the profile", name)
	return Function{}
}

func TestFunctionsHaveTheWeightsOfTheirStacks(t *testing.T) {
	p := NewProfile(profiled(t), false, "the tail", "the rest")
	for name, want := range map[string]Function{
		"handle":         {Of: Weights{0, 33}, Rest: Weights{0, 297}},
		"parse":          {Of: Weights{3, 3}, Rest: Weights{297, 297}},
		"lookup; slow":   {Of: Weights{0, 30}}, // recursion counts once
		"libx.so+0x7010": {Of: Weights{30, 30}},
	} {
		got := function(t, p, name)
		if got.Of != want.Of || got.Rest != want.Rest {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", name, got.Of, got.Rest, want.Of, want.Rest)
		}
		if different := got.Chance < believable; different != (name != "handle") {
			t.Errorf("%s: a chance of %g", name, got.Chance)
		}
	}
	if first := p.Functions[0].Name; first != "lookup; slow" && first != "libx.so+0x7010" {
		t.Errorf("%s comes first", first)
	}
}

func TestTimeOffTheCPUGoesToWhereItBlocked(t *testing.T) {
	p := NewProfile(profiled(t), true, "the tail", "the rest")
	if got := function(t, p, "read").Of; got != (Weights{0, 6_000_000}) {
		t.Errorf("read: %+v", got)
	}
	if got := function(t, p, eventfile.FrameCut).Of; got != (Weights{0, 6_000_000}) {
		t.Errorf("%s: %+v", eventfile.FrameCut, got)
	}
}

func TestTextSaysHowFewSamplesThereAre(t *testing.T) {
	var out strings.Builder
	if err := NewProfile(profiled(t), false, "the tail", "the rest").Text(&out, 2); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"only 33 samples in the tail: its shares are right to about 17 points", "...", " 2 more", " 90.9%       0.0%  +90.9 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
}

func TestFoldedStacksSplitWhereFlameGraphsDo(t *testing.T) {
	res := profiled(t)
	for offCPU, want := range map[bool]string{
		false: "handle;lookup:_slow;lookup:_slow;libx.so+0x7010 30\nhandle;parse 3\n",
		true:  "[user_stack_not_walkable];read;schedule_[k] 6000000\n",
	} {
		var out strings.Builder
		if err := NewProfile(res, offCPU, "", "").Folded(&out); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("off-CPU %v (-want +got):\n%s", offCPU, diff)
		}
	}
}

func TestPprofHoldsTheSameStacks(t *testing.T) {
	res := profiled(t)
	for offCPU, want := range map[bool][]int64{false: {33, 330_000_000}, true: {3, 6_000_000}} {
		var out bytes.Buffer
		if err := NewProfile(res, offCPU, "", "").Pprof(&out); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(&out)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]int64, len(p.SampleType))
		for _, s := range p.Sample {
			for i, v := range s.Value {
				sums[i] += v
			}
		}
		if diff := cmp.Diff(want, sums); diff != "" {
			t.Errorf("off-CPU %v (-want +got):\n%s", offCPU, diff)
		}
		if strings.HasPrefix(p.Mapping[0].File, "[") {
			t.Errorf("the main program is %s", p.Mapping[0].File)
		}
	}
}

func TestStackThatIsNotInTheFileIsNamedSo(t *testing.T) {
	res := profiled(t)
	res.Profile.Of.CPU[99] = 5
	if got := function(t, NewProfile(res, false, "", ""), NoStack).Of; got != (Weights{5, 5}) {
		t.Errorf("%+v", got)
	}
}
