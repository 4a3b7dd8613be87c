package eventfile

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// smallFile has four small blocks: kernel, records, kernel, records.
func smallFile(t testing.TB) []byte {
	return writeFile(t, func(w *Writer) {
		for i := range 2 {
			from := Time(2+i) * 1_000_000_000
			addEvents(t, w, sampleEvents(from)[:5])
			add(t, w, sampleRecords(from)[:2]...)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// blockEnds returns the offset behind each block; the first is the header.
func blockEnds(t testing.TB, file []byte) (ends []int) {
	off := preambleSize
	for _, f := range frames(t, file) {
		off += f.size()
		ends = append(ends, off)
	}
	return ends
}

func TestTornFileGivesEveryWholeBlock(t *testing.T) {
	file := smallFile(t)
	ends := blockEnds(t, file)
	whole := readAll(t, bytes.NewReader(file))
	for size := ends[0]; size < len(file); size++ {
		blocks := 0
		for blocks+1 < len(ends) && ends[blocks+1] <= size {
			blocks++
		}
		got := readAll(t, bytes.NewReader(file[:size]))
		events, records := 5*((blocks+1)/2), 2*(blocks/2)
		checkEqual(t, fmt.Sprintf("events of %d bytes", size), got.Events, whole.Events[:events])
		checkEqual(t, fmt.Sprintf("records of %d bytes", size), got.Records, whole.Records[:records])
		s := got.Summary
		if s.End != nil || s.Blocks != uint64(blocks) || s.Events != uint64(events) || s.Windows != uint64(records) {
			t.Errorf("%d bytes: %+v", size, s)
		}
		checkRecordsOnly(t, file[:size], got)
		rest := size - ends[blocks]
		if (rest > 0) != (len(s.Damage) == 1) || rest > 0 && s.Damage[0].Length != int64(rest) {
			t.Errorf("%d bytes, %d of them torn: damage %+v", size, rest, s.Damage)
		}
	}
}

func TestReadErrorIsReturnedAndNotTakenForTheEnd(t *testing.T) {
	file := smallFile(t)
	for size := range file {
		broken := io.MultiReader(bytes.NewReader(file[:size]), brokenReader{})
		f, err := NewReader(broken)
		if err == nil {
			for f.Next() {
			}
			err = f.Err()
		}
		if !isBroken(err) {
			t.Fatalf("a read error after %d bytes gave %v", size, err)
		}
	}
}
