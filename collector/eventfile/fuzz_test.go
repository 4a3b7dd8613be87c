package eventfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// checkFile reads any bytes and checks what holds for all of them.
func checkFile(t *testing.T, file []byte) {
	f, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return
	}
	got := drain(t, f)
	s := got.Summary
	windows := uint64(0)
	for _, r := range got.Records {
		if _, ok := r.(*Window); ok {
			windows++
		}
	}
	if s.Events != uint64(len(got.Events)) || s.Windows != windows {
		t.Fatalf("%d events and %d windows came, %d and %d are said", len(got.Events), windows, s.Events, s.Windows)
	}
	if s.End != nil && len(s.Damage) == 0 && s.Unknown == 0 && (s.End.Events != s.Events || s.End.Windows != s.Windows) {
		t.Fatalf("totals differ without damage: %+v", s)
	}
	at := int64(0)
	for _, d := range s.Damage {
		if d.Offset < at || d.Length < 0 || d.Offset+d.Length > int64(len(file)) || d.First > d.Last {
			t.Fatalf("damage in a file of %d bytes: %+v", len(file), s.Damage)
		}
		at = d.Offset
	}

	if len(s.Damage) == 0 && s.Unknown == 0 {
		checkRecordsOnly(t, file, got)
	}
}

// FuzzReader reads arbitrary files.
func FuzzReader(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(fileMagic))
	f.Add(smallFile(f))
	f.Add(sampleFile(f)[:1500])
	for _, h := range hostileContents() {
		f.Add(craft(f, h.kind, h.count, h.raw))
	}
	f.Fuzz(func(t *testing.T, file []byte) { checkFile(t, mend(file)) })
}

// mend sets the checksums right of what could be frames, so that the fuzzer
// gets to what is behind them.
func mend(file []byte) []byte {
	if len(file) < preambleSize+frameSize || !bytes.HasPrefix(file, []byte(fileMagic)) {
		return file
	}
	file = bytes.Clone(file)
	le := binary.LittleEndian
	le.PutUint32(file[12:], checksum(file[:12]))
	tag := uint32(0)
	for off := preambleSize; off+frameSize <= len(file); {
		copy(file[off:], frameMagic)
		head := file[off : off+frameSize]
		f := frame{kind: frameType(head[4]), codec: codec(head[5]), seq: le.Uint32(head[8:]),
			stored: le.Uint32(head[12:]), raw: le.Uint32(head[16:]), count: le.Uint32(head[20:]),
			lost: le.Uint64(head[24:]), first: Time(le.Uint64(head[32:])), last: Time(le.Uint64(head[40:]))}
		rest := file[off+frameSize:]
		content := rest[:min(uint64(f.stored), uint64(len(rest)))]
		f.crc = checksum(content)
		copy(head, f.append(nil, tag))
		if off == preambleSize {
			tag = tagOf(head)
		}
		off += frameSize + len(content)
	}
	return file
}

// FuzzContent reads blocks of arbitrary content.
func FuzzContent(f *testing.F) {
	for _, h := range hostileContents() {
		f.Add(h.raw, h.count, h.kind == frameKernel)
	}
	f.Add(kernelContent(sampleEvents(1000)...), uint32(len(sampleEvents(1000))), true)
	f.Fuzz(func(t *testing.T, raw []byte, count uint32, kernel bool) {
		kind := frameRecords
		if kernel {
			kind = frameKernel
		}
		file := craft(t, kind, count, raw)
		checkFile(t, file)
		if got := readAll(t, bytes.NewReader(file)); !isPart(aroundCrafted, got.Records) || got.Summary.End == nil {
			t.Fatalf("the blocks around are gone: %+v", got)
		}
	})
}

// FuzzRoundTrip makes events and windows of arbitrary bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{}, uint8(1))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 0xff, 0x80, 7, 0}, 100), uint8(3))
	f.Add(bytes.Repeat([]byte("abcdefgh"), 80), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, flushEvery uint8) {
		var events []Event
		var records []any
		c := cursor{buf: data}
		for c.len() > 0 {
			if c.buf[c.off]%8 == 0 {
				records = append(records, anyWindow(&c))
			} else {
				events = append(events, anyEvent(&c))
			}
		}
		file := writeFile(t, func(w *Writer) {
			for i := range max(len(events), len(records)) {
				if i < len(events) {
					add(t, w, events[i])
				}
				if i < len(records) {
					add(t, w, records[i])
				}
				if flushEvery > 0 && i%int(flushEvery) == 0 {
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
		got := readAll(t, bytes.NewReader(file))
		checkEqual(t, "events", got.Events, events)
		checkEqual(t, "records", got.Records, records)
		if s := got.Summary; s.End == nil || len(s.Damage) > 0 || s.Events != uint64(len(events)) || s.Events != s.End.Events {
			t.Fatalf("summary %+v", s)
		}
	})
}

// anyEvent leaves a field zero in half of the cases, as real events do.
func anyEvent(c *cursor) Event {
	c.off++
	mask := c.uvarint()
	number := func() (v uint64) {
		if mask&1 == 1 {
			v = c.uvarint()
			if v%5 == 0 {
				v = -v
			}
		}
		mask >>= 1
		return v
	}
	e := Event{
		Kind: KindTask + Kind(number()%uint64(kindLimit-1)), CPU: int32(number()), Time: Time(number()), Tid: int32(number()), Peer: int32(number()),
		Flags: Flags(number()) &^ FlagRepeat, Dur: int64(number()), State: uint32(number()), DestCPU: int32(number()), Syscall: int32(number()),
		Args: [3]uint64{number(), number(), number()}, FaultStart: Time(number()), Owner: int32(number()), Addr: number(),
		ID: uint32(number()), Tgid: int32(number()), Start: number(), FdType: uint8(number()), Stack: number(),
		Counts: [Counters]uint64{number(), number(), number()}, Away: int64(number()), Lag: int64(number()),
	}
	if e.Kind == KindTask {
		e.Comm = string(c.bytes(min(number()%20, uint64(c.len()))))
	}
	return e
}

func anyWindow(c *cursor) *Window {
	c.off++
	w := &Window{
		Kind: fmt.Sprint(c.uvarint()), Begin: Time(c.varint()), End: Time(c.varint()), CPU: c.varint(),
		Pid: int32(c.varint()), Tid: int32(c.varint()), EndTid: int32(c.varint()), Flags: uint8(c.uvarint()), Span: c.uvarint()%2 == 0,
	}
	for range c.uvarint() % 24 {
		w.Points = append(w.Points, Point{Type: PointType(c.uvarint()), Offset: c.varint(), Name: fmt.Sprint(c.uvarint() % 4), Tid: int32(c.varint())})
	}
	copy(w.ID.Bytes[:], c.bytes(min(16, uint64(c.len()))))
	return w
}
