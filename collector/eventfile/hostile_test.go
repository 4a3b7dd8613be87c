package eventfile

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func column8(number uint64, values ...uint64) []byte {
	var data []byte
	for _, v := range values {
		data = binary.AppendUvarint(data, v)
	}
	return appendColumn(nil, number, data)
}

// hostile is content that no writer makes, with the right checksums.
type hostile struct {
	kind  frameType
	count uint32 // as announced
	raw   []byte
}

var never = bytes.Repeat([]byte{0xff}, 11) // a number that goes on too long

func hostileContents() map[string]hostile {
	contents := map[string]hostile{
		"more events than announced":  {frameKernel, 1, column8(colKinds, 8, 8)},
		"fewer events than announced": {frameKernel, 9, column8(colKinds, 8, 8)},
		"no records":                  {frameRecords, 1, nil},
		"endless kind":                {frameKernel, 1, appendColumn(nil, colKinds, never)},
	}
	for name, raw := range hostileColumns() {
		kinds := column8(colKinds, uint64(KindSwitch), uint64(KindSwitch))
		contents[name] = hostile{frameKernel, 2, append(kinds, raw...)}
	}
	for name, raw := range hostileRecords() {
		contents[name] = hostile{frameRecords, 1, appendColumn(nil, colRecords, raw)}
	}
	contents["endless base of times"] = hostile{frameRecords, 1,
		append(appendColumn(nil, colBase, never), appendColumn(nil, colRecords, []byte{byte(recordNote), 1, 0})...)}
	return contents
}

// hostileColumns stand behind the kinds of two switches.
func hostileColumns() map[string][]byte {
	return map[string][]byte{
		"column without length":    {9},
		"column longer than block": {9, 200, 1, 1},
		"column of 2^64-1 bytes":   append([]byte{9}, binary.AppendUvarint(nil, math.MaxUint64)...),
		"endless number of column": never,
		"endless time":             appendColumn(nil, colTimes, never),
		"too few rows of CPUs":     column8(colCPUs, 0),
		"too many rows of CPUs":    column8(colCPUs, 0, 0, 0),
		"too many times":           column8(colTimes, 1, 1, 1),
		"CPU not in the set":       column8(colCPUs, 0, 7),
		"CPU of 2^64-1":            column8(colCPUs, 0, math.MaxUint64),
		"too few rows of a field":  column8(fieldColumn(KindSwitch, fieldState), 1),
		"too many rows of a field": column8(fieldColumn(KindSwitch, fieldState), 1, 2, 3),
		"field of an absent kind":  column8(fieldColumn(KindIRQ, fieldDur), 1),
		"tid not in the set":       column8(fieldColumn(KindSwitch, fieldPeer), 0, 1),
		"running tid not in set":   column8(fieldColumn(KindSwitch, fieldTid), 0, 2),
		"value not in the set":     column8(fieldColumn(KindSwitch, fieldArg1), 0, 1),
		"comm not in the set":      column8(fieldColumn(KindSwitch, fieldComm), 0, 1),
		"flags over 16 bits":       column8(fieldColumn(KindSwitch, fieldFlags), 0, 1<<16),
		"state over 32 bits":       column8(fieldColumn(KindSwitch, fieldState), 0, 1<<32),
		"id over 32 bits":          column8(fieldColumn(KindSwitch, fieldID), 0, 1<<32),
		"syscall over 32 bits":     column8(fieldColumn(KindSwitch, fieldSyscall), 0, math.MaxUint64),
		"tgid over 32 bits":        column8(fieldColumn(KindSwitch, fieldTgid), 0, 1<<33),
		"file type over 8 bits":    column8(fieldColumn(KindSwitch, fieldFdType), 0, 1<<8),
		"tid over 32 bits":         column8(colTids, 1<<40),
		"endless tid":              appendColumn(nil, colTids, never),
		"string over its column":   appendColumn(nil, colStrings, []byte{5, 'a'}),
	}
}

func hostileRecords() map[string][]byte {
	longList := binary.AppendUvarint([]byte{byte(recordBox)}, 5+5*(maxList+1))
	longList = append(binary.AppendUvarint(append(longList, 0, 0), maxList+1), make([]byte, 5*(maxList+1))...)
	return map[string][]byte{
		"record cut short":          {byte(recordNote), 9, 0},
		"record without length":     {byte(recordNote)},
		"endless type of record":    never,
		"string not in the set":     {byte(recordNote), 2, 0, 3},
		"endless field":             append([]byte{byte(recordNote), 11}, never...),
		"bool of 2":                 {byte(recordWindow), 1, 2},
		"source over 32 bits":       append([]byte{byte(recordLoss), 6, 0}, binary.AppendUvarint(nil, 1<<34)...),
		"name over 32 bits":         append([]byte{byte(recordName), 6, 0}, binary.AppendUvarint(nil, 1<<34)...),
		"id cut short":              {byte(recordWindow), 7, 0, 0, 0, 0, 1, 2, 3},
		"list longer than its body": {byte(recordBox), 5, 0, 0, 0xff, 0xff, 3},
		"list over the limit":       longList,
	}
}

func TestHostileContentIsDamageAndCostsOneBlock(t *testing.T) {
	for name, h := range hostileContents() {
		t.Run(name, func(t *testing.T) {
			got := readAll(t, bytes.NewReader(craft(t, h.kind, h.count, h.raw)))
			d := got.Summary.Damage
			if len(d) != 1 || d[0].Blocks != 1 || d[0].Length < frameSize || got.Summary.End == nil {
				t.Fatalf("%+v", got.Summary)
			}
			counted := strings.HasSuffix(name, "than announced") || name == "no records"
			if counted != strings.Contains(d[0].Reason, "as many records") {
				t.Errorf("damage %+v", d)
			}
			if !isPart(aroundCrafted, got.Records) {
				t.Errorf("records %+v", got.Records)
			}
		})
	}
}

func TestTimesThatOverflowDoNoHarm(t *testing.T) {
	raw := append(column8(colKinds, 8, 8), column8(colTimes, math.MaxUint64, math.MaxUint64-1)...)
	got := readAll(t, bytes.NewReader(craft(t, frameKernel, 2, raw)))
	checkEqual(t, "events", got.Events, []Event{
		{Kind: KindExit, Time: math.MinInt64, Syscall: NoSyscall}, {Kind: KindExit, Time: -1, Syscall: NoSyscall}})
}

func TestHostileEndBlockIsDamage(t *testing.T) {
	for name, h := range hostileContents() {
		file := craft(t, frameEnd, 1, h.raw)
		if s := readAll(t, bytes.NewReader(file)).Summary; s.End != nil || len(s.Damage) == 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestEndBlockThatCountsOtherwiseIsDamage(t *testing.T) {
	file := writeFile(t, func(w *Writer) {
		add(t, w, Event{Kind: KindSample})
		w.totals.Events++
	})
	if s := readAll(t, bytes.NewReader(file)).Summary; s.End == nil || len(s.Damage) != 1 {
		t.Errorf("summary %+v", s)
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestMemoryOfHostileBlocksIsBounded(t *testing.T) {
	big, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(n int) []byte { return big.EncodeAll(make([]byte, n), nil) }
	bomb := zeros(16 * maxBlock)
	texts := appendColumn(nil, colStrings, make([]byte, maxBlock-10))
	for _, test := range []struct {
		what   string
		fr     frame
		stored []byte
	}{
		{"a bomb that says its size", frame{codec: codecZstd, raw: maxBlock}, bomb},
		{"a bomb that lies", frame{codec: codecZstd, raw: 10}, bomb},
		{"sixteen million strings", frame{codec: codecZstd, raw: uint32(len(texts))}, big.EncodeAll(texts, nil)},
		{"raw size over the limit", frame{codec: codecZstd, raw: maxBlock + 1}, zeros(maxBlock + 1)},
		{"stored size that is not there", frame{stored: maxBlock, raw: maxBlock}, []byte("short")},
		{"stored size over the limit", frame{stored: math.MaxUint32, raw: math.MaxUint32}, []byte("short")},
		{"times in the wrong order", frame{first: 5, last: 4}, nil},
		{"unknown compression", frame{codec: 77, raw: maxBlock}, []byte("short")},
	} {
		t.Run(test.what, func(t *testing.T) {
			file := sampleFile(t)
			file = file[:blockEnds(t, file)[0]]
			tag := tagOf(file[preambleSize:])
			test.fr.kind, test.fr.seq, test.fr.count = frameKernel, 1, 1
			if test.fr.stored == 0 {
				test.fr.stored = uint32(len(test.stored))
			}
			test.fr.crc = checksum(test.stored)
			file = append(test.fr.append(file, tag), test.stored...)
			var s Summary
			used := allocated(func() { s = readAll(t, bytes.NewReader(file)).Summary })
			if len(s.Damage) != 1 || s.Events != 0 {
				t.Errorf("summary %+v", s)
			}
			if used > 4*maxBlock {
				t.Errorf("%d bytes were allocated for a file of %d", used, len(file))
			}
		})
	}
}

func TestBlocksMadeToBeSearchedAreNotReadForEver(t *testing.T) {
	file := sampleFile(t)
	file = file[:blockEnds(t, file)[0]]
	tag := tagOf(file[preambleSize:])
	// Frames in frames, each with a content that reaches far and is wrong.
	const size = maxBlock / 4
	for range 2 * size / frameSize {
		fr := frame{kind: frameKernel, stored: size, raw: size}
		file = fr.append(file, tag)
	}
	f, err := NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	drain(t, f)
	if f.wasted > maxWasted+maxBlock {
		t.Errorf("%d bytes were read for a file of %d", f.wasted, len(file))
	}
}
