package eventfile

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// craft writes a file whose block has any content, between two sound ones.
func craft(t testing.TB, kind frameType, count uint32, raw []byte) []byte {
	return writeFile(t, func(w *Writer) {
		add(t, w, &Note{Text: "before"})
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		w.raw = raw
		w.buf = w.block(nil, frame{kind: kind, count: count, first: 5, last: 6})
		if err := w.write(w.buf); err != nil {
			t.Fatal(err)
		}
		if kind == frameKernel {
			w.totals.Events += uint64(count)
		}
		add(t, w, &Note{Text: "after"})
	})
}

var aroundCrafted = []any{&Note{Text: "before"}, &Note{Text: "after"}}

// kernelContent is the content of a block with the given events.
func kernelContent(events ...Event) []byte {
	var b kernelBlock
	b.reset()
	for i := range events {
		b.add(&events[i])
	}
	return b.content(nil)
}

func TestUnknownTypeOfBlockIsSkipped(t *testing.T) {
	got := readAll(t, bytes.NewReader(craft(t, 9, 3, []byte("what later versions put here"))))
	checkEqual(t, "records", got.Records, aroundCrafted)
	if got.Summary.Unknown != 3 || len(got.Summary.Damage) > 0 || got.Summary.Blocks != 3 {
		t.Errorf("summary %+v", got.Summary)
	}
}

func TestUnknownColumnsAreSkipped(t *testing.T) {
	events := sampleEvents(1000)
	raw := appendColumn(nil, 17, []byte{200, 200})
	raw = append(raw, kernelContent(events...)...)
	raw = appendColumn(raw, fieldColumn(KindSwitch, fieldCount), []byte{1, 2, 3})
	raw = appendColumn(raw, fieldColumn(kindLimit, fieldTid), []byte{4})
	raw = appendColumn(raw, 1<<60, []byte{5})
	got := readAll(t, bytes.NewReader(craft(t, frameKernel, uint32(len(events)), raw)))
	checkEqual(t, "events", got.Events, events)
	if len(got.Summary.Damage) > 0 {
		t.Errorf("summary %+v", got.Summary)
	}
}

func TestUnknownKindOfEventIsSkipped(t *testing.T) {
	var b kernelBlock
	b.reset()
	row := func(kind uint64, time Time) {
		b.kinds = binary.AppendUvarint(b.kinds, kind)
		b.put(&b.cpuCol, 0)
		b.put(&b.times, zigzag(int64(time-b.last)))
		b.last = time
	}
	row(uint64(kindLimit), 10)
	b.add(&Event{Kind: KindSample, Time: 20, Tid: 7, Syscall: NoSyscall})
	row(300, 30)
	b.add(&Event{Kind: KindSample, Time: 40, Tid: 7, Syscall: NoSyscall})
	got := readAll(t, bytes.NewReader(craft(t, frameKernel, 4, b.content(nil))))
	checkEqual(t, "events", got.Events, []Event{
		{Kind: KindSample, Time: 20, Tid: 7, Syscall: NoSyscall}, {Kind: KindSample, Time: 40, Tid: 7, Syscall: NoSyscall}})
	if s := got.Summary; s.Unknown != 2 || s.Events != 2 || len(s.Damage) > 0 {
		t.Errorf("summary %+v", s)
	}
}

func TestUnknownTypeOfRecordIsSkipped(t *testing.T) {
	var b recordBlock
	b.reset()
	for _, r := range []struct {
		t recordType
		r record
	}{{recordNote, &Note{Time: 5, Text: "a"}}, {99, &Proc{Cmdline: "new"}}, {recordHeader, &sampleHeader}, {recordNote, &Note{Time: 6, Text: "b"}}} {
		if err := b.add(r.t, r.r); err != nil {
			t.Fatal(err)
		}
	}
	got := readAll(t, bytes.NewReader(craft(t, frameRecords, 4, b.content(nil))))
	checkEqual(t, "records", got.Records, []any{aroundCrafted[0], &Note{Time: 5, Text: "a"}, &Note{Time: 6, Text: "b"}, aroundCrafted[1]})
	if s := got.Summary; s.Unknown != 2 || len(s.Damage) > 0 {
		t.Errorf("summary %+v", s)
	}
}

// longNote and shortNote are a Note of a newer and of an older version.
type longNote struct{ Note }
type shortNote struct{ Note }

func (n *longNote) walk(c coder) {
	n.Note.walk(c)
	c.str(&n.Text)
	c.time(&n.Time)
}

func (n *shortNote) walk(c coder) { c.time(&n.Time) }

func TestFieldsAddedBehindARecordAreIgnoredAndAbsentOnesAreZero(t *testing.T) {
	var b recordBlock
	b.reset()
	for _, r := range []record{&longNote{Note{Time: 5, Text: "long"}}, &shortNote{Note{Time: 6}}, &Note{Time: 7, Text: "plain"}} {
		if err := b.add(recordNote, r); err != nil {
			t.Fatal(err)
		}
	}
	got := readAll(t, bytes.NewReader(craft(t, frameRecords, 3, b.content(nil))))
	checkEqual(t, "records", got.Records, []any{
		aroundCrafted[0], &Note{Time: 5, Text: "long"}, &Note{Time: 6}, &Note{Time: 7, Text: "plain"}, aroundCrafted[1]})
}
