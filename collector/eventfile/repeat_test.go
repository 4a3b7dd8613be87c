package eventfile

import (
	"bytes"
	"slices"
	"testing"
)

func task(time Time, tid int32, comm string) Event {
	return Event{Kind: KindTask, Time: time, Tid: tid, Tgid: 1, Flags: FlagTarget, Start: 9, Comm: comm, Syscall: NoSyscall}
}

func repeated(time Time, cpu, tid int32, comm string) Event {
	e := task(time, tid, comm)
	e.Flags |= FlagRepeat
	e.CPU = cpu
	return e
}

// allEvents is what Next delivers, repeats included.
func allEvents(t *testing.T, file []byte) (events []Event) {
	t.Helper()
	f, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for f.Next() {
		if e := f.Event(); e != nil {
			events = append(events, *e)
		}
	}
	return events
}

func TestBlockIntroducesTheTasksItSpeaksOf(t *testing.T) {
	first := []Event{
		task(10, 70, "a"), task(11, 71, "b"), task(12, 72, "c"), task(13, 73, "unused"),
		{Kind: KindSwitch, Time: 20, Tid: 70, Peer: 71, Syscall: NoSyscall},
	}
	second := []Event{
		{Kind: KindSwitch, Time: 30, CPU: 1, Tid: 70, Peer: 99, Owner: 72, Syscall: 1},
		{Kind: KindSwitch, Time: 31, CPU: 1, Tid: 99, Peer: 70, Syscall: NoSyscall},
		task(32, 71, "renamed"),
		{Kind: KindWaking, Time: 33, CPU: 2, Tid: 71, Peer: 70, Syscall: NoSyscall},
	}
	third := []Event{{Kind: KindWaking, Time: 40, CPU: 2, Tid: 70, Peer: 71, Syscall: NoSyscall}}
	file := writeFile(t, func(w *Writer) {
		for _, block := range [][]Event{first, second, third} {
			addEvents(t, w, block)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	})
	want := slices.Concat(
		first,
		[]Event{repeated(30, 1, 70, "a"), repeated(30, 1, 72, "c")}, second,
		[]Event{repeated(40, 2, 70, "a"), repeated(40, 2, 71, "renamed")}, third,
	)
	checkEqual(t, "events", allEvents(t, file), want)
	if s := readAll(t, bytes.NewReader(file)).Summary; s.Events != 10 || s.End.Events != 10 || len(s.Damage) > 0 {
		t.Errorf("repeats are counted: %+v", s)
	}

	damaged := slices.Clone(file)
	damaged[blockEnds(t, file)[0]+frameSize+3] ^= 1
	checkEqual(t, "events without the first block", allEvents(t, damaged), want[len(first):])
}

func TestCopyOfAFileIsTheSame(t *testing.T) {
	file := sampleFile(t)
	again := writeFile(t, func(w *Writer) {
		f, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		blocks := uint64(0)
		for f.Next() {
			if s := f.Summary(); s.Blocks != blocks && s.Blocks%2 == 1 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				blocks = s.Blocks
			}
			if e := f.Event(); e != nil {
				add(t, w, *e)
			} else {
				add(t, w, f.Meta())
			}
		}
	})
	if !bytes.Equal(file, again) {
		t.Error("the copy differs")
	}
}

func TestIdentitiesAreForgottenInTime(t *testing.T) {
	var ids tasks
	for tid := range int32(5 * keepTasks) {
		ids.remember(tid, identity{comm: "short-lived"})
		if _, ok := ids.find(0); !ok {
			t.Fatalf("a task in use is forgotten after %d others", tid)
		}
	}
	if n := len(ids.young) + len(ids.old); n > 2*keepTasks {
		t.Errorf("%d identities are kept", n)
	}
	if _, ok := ids.find(4*keepTasks + 1); !ok {
		t.Error("a recent task is forgotten")
	}
	if _, ok := ids.find(1); ok {
		t.Error("an old task is kept")
	}
}
