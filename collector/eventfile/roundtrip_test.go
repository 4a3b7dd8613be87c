package eventfile

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"
	"testing/iotest"
)

func TestFileHoldsWhatWasWritten(t *testing.T) {
	file := sampleFile(t)
	f, err := NewReader(iotest.OneByteReader(bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "header", *f.Header(), sampleHeader)
	got := drain(t, f)

	var want contents
	for i := range 3 {
		from := Time(2+i) * 1_000_000_000
		want.Events = append(want.Events, sampleEvents(from)...)
		want.Records = append(want.Records, sampleRecords(from)...)
	}
	endBlock := bytes.LastIndex(file, []byte(frameMagic))
	want.Summary = Summary{
		Blocks: 6, Events: uint64(len(want.Events)), Windows: 6, LastTime: 4_000_004_100,
		End: &End{Time: 99_000_000_000, Reason: "signal", Events: uint64(len(want.Events)), Windows: 6, Lost: 57, Bytes: uint64(endBlock)},
	}
	checkEqual(t, "contents", got, want)
}

func TestSampleCoversEveryKind(t *testing.T) {
	seen := map[Kind]bool{}
	for _, e := range sampleEvents(0) {
		seen[e.Kind] = true
	}
	if len(seen) != int(kindLimit)-1 {
		t.Errorf("the sample has %d kinds of %d", len(seen), kindLimit-1)
	}
}

func TestEveryFieldOfEveryKindSurvives(t *testing.T) {
	var events []Event
	for k := Kind(1); k < kindLimit; k++ {
		extreme := Event{
			Kind: k, Flags: math.MaxUint16 &^ FlagRepeat, CPU: math.MinInt32, Time: math.MaxInt64, Tid: math.MinInt32, Peer: math.MaxInt32,
			Dur: math.MinInt64, State: math.MaxUint32, DestCPU: math.MaxInt32, Syscall: math.MinInt32,
			Args: [3]uint64{math.MaxUint64, 1, math.MaxUint64 - 1}, FaultStart: math.MinInt64, Owner: -1, Addr: math.MaxUint64,
			ID: math.MaxUint32, Tgid: math.MinInt32, Start: math.MaxUint64, Comm: "\x00\xff", FdType: math.MaxUint8, Stack: math.MaxUint64,
			Counts: [Counters]uint64{math.MaxUint64, 1, 1 << 63}, Away: math.MaxInt64, Lag: math.MaxInt64 - 1,
		}
		for name, value := range reflect.ValueOf(extreme).Fields() {
			if value.IsZero() {
				t.Fatalf("the test says nothing of Event.%s", name.Name)
			}
		}
		zero := Event{Kind: k}
		opposite := Event{
			Kind: k, CPU: math.MaxInt32, Time: math.MinInt64, Dur: math.MaxInt64, Syscall: math.MaxInt32,
			FaultStart: math.MaxInt64, Addr: 1, Tgid: math.MaxInt32,
		}
		events = append(events, zero, extreme, opposite, zero, extreme)
	}
	file := writeFile(t, func(w *Writer) { addEvents(t, w, events) })
	checkEqual(t, "events", readAll(t, bytes.NewReader(file)).Events, events)
}

// fill sets everything in v to a value of its own that is not zero.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, next)
		}
	default:
		v.Set(reflect.ValueOf(*next).Convert(v.Type()))
	}
}

func TestEveryFieldOfEveryRecordSurvives(t *testing.T) {
	records := []any{&Window{}, &Loss{}, &BoxSample{}, &Proc{}, &Note{}, &Name{}, &Stack{}, &Mapping{}, &Fd{}}
	next := 0
	for _, r := range records {
		fill(reflect.ValueOf(r).Elem(), &next)
	}
	file := writeFile(t, func(w *Writer) { add(t, w, records...) })
	checkEqual(t, "records", readAll(t, bytes.NewReader(file)).Records, records)

	var header Header
	fill(reflect.ValueOf(&header).Elem(), &next)
	var out bytes.Buffer
	w, err := NewWriter(&out, &header)
	if err != nil {
		t.Fatal(err)
	}
	end := End{Time: 7, Reason: "done"}
	if err := w.Close(&end); err != nil {
		t.Fatal(err)
	}
	f, err := NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "header", *f.Header(), header)
	checkEqual(t, "end", drain(t, f).Summary.End, &end)
}

func TestRecordsWithExtremesSurvive(t *testing.T) {
	records := []any{
		&Window{Begin: math.MinInt64, End: math.MaxInt64, CPU: math.MinInt64, Points: []Point{
			{Offset: math.MaxInt64}, {Type: 255, Offset: math.MinInt64, Name: "\xff", Tid: math.MinInt32}}},
		&Window{}, &Loss{}, &BoxSample{}, &Proc{}, &Note{}, &Name{}, &Stack{},
		&Loss{Source: 255, CPU: math.MinInt32, Count: math.MaxUint64, First: math.MaxInt64, Last: math.MinInt64},
		&Loss{Count: 1},
		&Name{ID: math.MaxUint32},
		&Stack{ID: math.MaxUint64, Pid: -1, Frames: []Frame{{Addr: math.MaxUint64, Offset: math.MaxUint64}, {}, {Addr: 1 << 63}}},
	}
	file := writeFile(t, func(w *Writer) { add(t, w, records...) })
	got := readAll(t, bytes.NewReader(file))
	checkEqual(t, "records", got.Records, records)
	if got.Summary.End.Lost != math.MaxUint64 {
		t.Errorf("lost %d, want the largest number", got.Summary.End.Lost)
	}
}

func TestRecordWithoutTimeBeforeOthersSurvives(t *testing.T) {
	records := []any{&Loss{Source: LossRecursion, CPU: -1, Count: 3}, &Note{Time: 5, Text: "a"}, &Note{}, &Note{Time: 4}}
	file := writeFile(t, func(w *Writer) { add(t, w, records...) })
	checkEqual(t, "records", readAll(t, bytes.NewReader(file)).Records, records)
}

func TestHeaderAloneIsAFile(t *testing.T) {
	got := readAll(t, bytes.NewReader(writeFile(t, func(*Writer) {})))
	if got.Summary.End == nil || got.Summary.Blocks != 0 || len(got.Summary.Damage) != 0 {
		t.Errorf("summary %+v", got.Summary)
	}
}

func TestBlocksCloseWhenFull(t *testing.T) {
	const n = 200_000
	file := writeFile(t, func(w *Writer) {
		for i := range n {
			add(t, w, Event{Kind: KindFault, Time: Time(i) * 997, Addr: uint64(i) * 4096, Dur: int64(i)})
			if i%10 == 0 {
				add(t, w, &Window{Kind: "k", Begin: Time(i), End: Time(i) + 1<<40})
			}
		}
	})
	got := readAll(t, bytes.NewReader(file)).Summary
	if got.Events != n || got.Windows != n/10 || len(got.Damage) > 0 {
		t.Errorf("summary %+v", got)
	}
	if got.Blocks < 5 || got.Blocks > 20 {
		t.Errorf("%d blocks for some 2 MB", got.Blocks)
	}
	for _, fr := range frames(t, file) {
		if fr.raw > closeBytes+closeBytes/8 {
			t.Errorf("block %d has %d bytes", fr.seq, fr.raw)
		}
	}
}

// frames lists the frames of a sound file.
func frames(t testing.TB, file []byte) (list []frame) {
	t.Helper()
	tag := uint32(0)
	for off := preambleSize; off < len(file); {
		f, reason := parseFrame(file[off:], tag)
		if reason != "" {
			t.Fatal(reason)
		}
		if off == preambleSize {
			tag = tagOf(file[off:])
		}
		list = append(list, f)
		off += f.size()
	}
	return list
}
