package eventfile

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// isPart reports whether part is whole without some of its elements.
func isPart[T any](part, whole []T) bool {
	for _, v := range part {
		i := slices.IndexFunc(whole, func(w T) bool { return reflect.DeepEqual(v, w) })
		if i < 0 {
			return false
		}
		whole = whole[i+1:]
	}
	return true
}

func TestFlippedBitCostsOneBlockAndIsReported(t *testing.T) {
	file := smallFile(t)
	ends := blockEnds(t, file)
	whole := readAll(t, bytes.NewReader(file))
	for i := range file {
		damaged := slices.Clone(file)
		damaged[i] ^= 1 << (i % 8)
		f, err := NewReader(bytes.NewReader(damaged))
		if i < ends[0] {
			var corrupt *CorruptError
			var version *VersionError
			if !errors.As(err, &corrupt) && !errors.As(err, &version) && !errors.Is(err, ErrNotEvents) {
				t.Errorf("byte %d of the header: error %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := drain(t, f)
		checkRecordsOnly(t, damaged, got)
		block := 0
		for ends[block+1] <= i {
			block++
		}
		last := block == len(ends)-2
		if len(got.Summary.Damage) != 1 || (got.Summary.End == nil) != last {
			t.Fatalf("byte %d: %+v", i, got.Summary)
		}
		d := got.Summary.Damage[0]
		if d.Offset != int64(ends[block]) || d.Offset+d.Length != int64(ends[block+1]) || !last && d.Blocks != 1 {
			t.Errorf("byte %d in block from %d to %d: damage %+v", i, ends[block], ends[block+1], d)
		}
		lost := map[bool]int{true: 1, false: 0}
		wantEvents, wantRecords := 10-5*lost[block == 0 || block == 2], 4-2*lost[block == 1 || block == 3]
		if len(got.Events) != wantEvents || !isPart(got.Events, whole.Events) {
			t.Errorf("byte %d: events %+v", i, got.Events)
		}
		if len(got.Records) != wantRecords || !isPart(got.Records, whole.Records) {
			t.Errorf("byte %d: records %+v", i, got.Records)
		}
	}
}

func TestMissingAndForeignBytesCostOnlyTheBlocksTheyAreIn(t *testing.T) {
	file := sampleFile(t)
	ends := blockEnds(t, file)
	whole := readAll(t, bytes.NewReader(file))
	for name, damaged := range map[string][]byte{
		"bytes missing in a block":       slices.Delete(slices.Clone(file), ends[0]+100, ends[0]+110),
		"a frame missing":                slices.Delete(slices.Clone(file), ends[0], ends[0]+frameSize),
		"bytes put into a block":         slices.Insert(slices.Clone(file), ends[0]+100, 1, 2, 3),
		"bytes missing over a boundary":  slices.Delete(slices.Clone(file), ends[0]+100, ends[1]+10),
		"bytes between blocks":           slices.Insert(slices.Clone(file), ends[1], []byte(frameMagic+"abc")...),
		"a block missing":                slices.Delete(slices.Clone(file), ends[0], ends[1]),
		"a block twice":                  slices.Insert(slices.Clone(file), ends[1], file[ends[0]:ends[1]]...),
		"a page of zeros":                slices.Replace(slices.Clone(file), ends[0]+60, ends[2]-5, make([]byte, 4096)...),
		"blocks of another file between": slices.Insert(slices.Clone(file), ends[1], otherBlocks(t)...),
		"data behind the end":            append(slices.Clone(file), "more"...),
	} {
		t.Run(name, func(t *testing.T) {
			got := readAll(t, bytes.NewReader(damaged))
			if got.Summary.End == nil || len(got.Summary.Damage) == 0 {
				t.Errorf("summary %+v", got.Summary)
			}
			intact := 6 - 2 // blocks that none of these touches
			if got.Summary.Blocks < uint64(intact) || !isPart(got.Events, whole.Events) || !isPart(got.Records, whole.Records) {
				t.Errorf("%d blocks: %+v", got.Summary.Blocks, got)
			}
			checkRecordsOnly(t, damaged, got)
		})
	}
}

func otherBlocks(t *testing.T) []byte {
	var file bytes.Buffer
	w, err := NewWriter(&file, &Header{Host: "another"})
	if err != nil {
		t.Fatal(err)
	}
	start := file.Len()
	add(t, w, Event{Kind: KindSample, Time: 5})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()[start:]
}

func TestGapInEventsIsDeliveredAsLossBeforeWhatFollows(t *testing.T) {
	file := sampleFile(t)
	ends := blockEnds(t, file)
	const second, perBlock = 1_000_000_000, 19
	for _, test := range []struct {
		what        string
		at          int // byte to damage
		count       uint64
		first, last Time
	}{
		{"content of a kernel block", ends[2] + frameSize + 5, perBlock, 3 * second, 3*second + 4100},
		{"frame of a kernel block", ends[2] + 5, 0, 2*second + 4100, 4 * second},
		{"frame of the first kernel block", ends[0] + 5, 0, sampleHeader.Started, 3 * second},
		{"frame of the last kernel block", ends[4] + 5, 0, 3*second + 4100, 99 * second},
		{"records that counted losses", ends[1] + frameSize + 5, 19, 2 * second, 2*second + 4000},
	} {
		t.Run(test.what, func(t *testing.T) {
			damaged := slices.Clone(file)
			damaged[test.at] ^= 1
			got := readAll(t, bytes.NewReader(damaged))
			want := Loss{Source: LossFile, CPU: -1, Count: test.count, First: test.first, Last: test.last, What: got.Summary.Damage[0].Reason}
			checkEqual(t, "losses", got.Gaps, []Loss{want})
			checkRecordsOnly(t, damaged, got)
			d := got.Summary.Damage[0]
			if d.First != test.first || d.Last != test.last || d.Blocks != 1 {
				t.Errorf("damage %+v", d)
			}
		})
	}
}

func TestMissingBlockIsDamageOfNoLength(t *testing.T) {
	file := sampleFile(t)
	ends := blockEnds(t, file)
	got := readAll(t, bytes.NewReader(slices.Delete(slices.Clone(file), ends[2], ends[3])))
	want := Damage{Offset: int64(ends[2]), Blocks: 1, Reason: "blocks are missing", First: 2_000_004_100, Last: 4_000_000_000}
	checkEqual(t, "damage", got.Summary.Damage, []Damage{want})
	checkEqual(t, "losses", got.Gaps, []Loss{{Source: LossFile, CPU: -1, First: want.First, Last: want.Last, What: want.Reason}})
}

func TestNextBlockIsFoundAtAnyDistance(t *testing.T) {
	file := smallFile(t)
	ends := blockEnds(t, file)
	whole := readAll(t, bytes.NewReader(file))
	for distance := readAhead - 70; distance < readAhead+70; distance++ {
		got := readAll(t, bytes.NewReader(slices.Insert(slices.Clone(file), ends[1], make([]byte, distance)...)))
		if d := got.Summary.Damage; len(d) != 1 || d[0].Length != int64(distance) || len(got.Events) != len(whole.Events) {
			t.Fatalf("%d bytes between blocks: %+v", distance, got.Summary)
		}
	}
}

func TestDamagedWindowsAreNoGapInTheEvents(t *testing.T) {
	damaged := smallFile(t)
	damaged[blockEnds(t, damaged)[1]+frameSize+5] ^= 1
	got := readAll(t, bytes.NewReader(damaged))
	if len(got.Gaps) != 0 || len(got.Summary.Damage) != 1 || got.Summary.Damage[0].Records != 2 {
		t.Errorf("%+v", got)
	}
}

func TestDamageInTheTornEndHasNoEnd(t *testing.T) {
	file := sampleFile(t)
	ends := blockEnds(t, file)
	torn := slices.Clone(file[:ends[5]])
	torn[ends[4]+5] ^= 1
	got := readAll(t, bytes.NewReader(torn))
	d := got.Summary.Damage
	if len(got.Gaps) != 0 || len(d) != 1 || d[0].First != 0 || d[0].Last != 0 || got.Summary.LastTime != 3_000_004_100 {
		t.Errorf("%+v %s", got.Gaps, fmt.Sprintf("%+v", got.Summary))
	}
}
