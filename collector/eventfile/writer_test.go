package eventfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestFullDiskIsReturnedAtOnceAndStays(t *testing.T) {
	whole := sampleFile(t)
	for room := 0; room < len(whole); room += 7 {
		disk := &smallDisk{room: room}
		w, err := NewWriter(disk, &sampleHeader)
		for i := 0; err == nil && i < 3; i++ {
			from := Time(2+i) * 1_000_000_000
			addEvents(t, w, sampleEvents(from))
			add(t, w, sampleRecords(from)...)
			err = w.Flush()
		}
		if err == nil {
			err = w.Close(&End{Time: 99_000_000_000, Reason: "signal"})
		}
		if !isBroken(err) {
			t.Fatalf("room for %d bytes: error %v", room, err)
		}
		if !bytes.Equal(disk.data, whole[:room]) {
			t.Fatalf("room for %d bytes: the file is not the beginning of a whole one", room)
		}
		if w == nil {
			continue
		}
		calls := disk.calls
		for what, again := range map[string]error{
			"Event": w.Event(&Event{Kind: KindSample}), "Window": w.Window(&Window{}), "Loss": w.Loss(&Loss{}),
			"Box": w.Box(&BoxSample{}), "Proc": w.Proc(&Proc{}), "Note": w.Note(&Note{}), "Name": w.Name(&Name{}),
			"Flush": w.Flush(), "Close": w.Close(&End{}),
		} {
			if !errors.Is(again, err) {
				t.Errorf("%s after the error: %v", what, again)
			}
		}
		if disk.calls != calls || w.Bytes() != uint64(room) {
			t.Errorf("room for %d bytes: %d more writes, %d bytes said", room, disk.calls-calls, w.Bytes())
		}
	}
}

func TestErrorOfAFullBlockComesFromTheEventThatFilledIt(t *testing.T) {
	disk := &smallDisk{room: 1000}
	w, err := NewWriter(disk, &sampleHeader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil && i < 1e6; i++ {
		err = w.Event(&Event{Kind: KindFault, Time: Time(i * i), Addr: uint64(i * i)})
	}
	if !isBroken(err) {
		t.Errorf("error %v", err)
	}
}

type shortWriter struct{}

func (shortWriter) Write(b []byte) (int, error) { return len(b) - 1, nil }

func TestShortWriteIsAnError(t *testing.T) {
	if _, err := NewWriter(shortWriter{}, &sampleHeader); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}

func TestNothingIsWrittenAfterClose(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, &sampleHeader)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(&End{}); err != nil {
		t.Fatal(err)
	}
	size := file.Len()
	for _, err := range []error{w.Event(&Event{Kind: KindSample}), w.Note(&Note{}), w.Flush(), w.Close(&End{})} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error %v", err)
		}
	}
	if file.Len() != size || w.Bytes() != uint64(size) {
		t.Errorf("%d bytes became %d, Bytes says %d", size, file.Len(), w.Bytes())
	}
}

func TestRefusedRecordLeavesTheFileUsable(t *testing.T) {
	huge := strings.Repeat("x", maxBlock)
	var got contents
	file := writeFile(t, func(w *Writer) {
		add(t, w, &Note{Text: "before"})
		for what, err := range map[string]error{
			"long text":    w.Note(&Note{Text: huge}),
			"long comm":    w.Event(&Event{Kind: KindTask, Tid: 1, Comm: huge}),
			"long list":    w.Window(&Window{Points: make([]Point, maxList+1)}),
			"many strings": w.Window(&Window{Points: []Point{{Name: huge[:maxBlock/3]}, {Name: huge[:maxBlock/3+1]}}}),
		} {
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: error %v", what, err)
			}
		}
		for _, kind := range []Kind{0, kindLimit, 255} {
			if err := w.Event(&Event{Kind: kind}); err == nil {
				t.Errorf("kind %d was taken", kind)
			}
		}
		add(t, w, Event{Kind: KindSample}, &Note{Text: "after"}, &Note{Text: huge[:maxBlock/3]})
	})
	got = readAll(t, bytes.NewReader(file))
	checkEqual(t, "records", got.Records, []any{&Note{Text: "before"}, &Note{Text: "after"}, &Note{Text: huge[:maxBlock/3]}})
	if len(got.Events) != 1 || got.Summary.End.Windows != 0 || len(got.Summary.Damage) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestLargestAllowedRecordIsRead(t *testing.T) {
	note := &Note{Text: strings.Repeat("long ", maxBlock/2/5-100)}
	file := writeFile(t, func(w *Writer) { add(t, w, &Note{Text: "small"}, note, &Proc{}) })
	checkEqual(t, "records", readAll(t, bytes.NewReader(file)).Records, []any{&Note{Text: "small"}, note, &Proc{}})
}

func TestWindowsNeverReachTheFileBeforeTheirEvents(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, &sampleHeader)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; w.Bytes() == uint64(blockEnds(t, file.Bytes())[0]); i++ {
		add(t, w, Event{Kind: KindSample, Time: Time(i)}, &Window{Begin: Time(i), End: Time(i)})
	}
	got := readAll(t, &file)
	if len(got.Events) == 0 || len(got.Events) < len(got.Records) {
		t.Errorf("%d windows and %d events are in the file", len(got.Records), len(got.Events))
	}
}
