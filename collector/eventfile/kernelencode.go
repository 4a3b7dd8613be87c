package eventfile

import (
	"encoding/binary"
	"slices"
)

// kernelBlock collects events and encodes them as columns. A column comes to
// be with the first value in it that is not zero.
type kernelBlock struct {
	kinds, cpuCol, times []byte
	columns              [kindLimit][fieldCount][]byte
	rows                 [kindLimit]int
	bytes                int // in the columns above

	cpus    dict[int32]
	tids    dict[int32]
	values  dict[uint64]
	strings dict[string]

	running []int32           // by number in cpus: the task expected there
	addr    [kindLimit]uint64 // Addr of the last event of the kind
	last    Time              // of the last event

	count       uint32 // events, repeats not counted
	first, upTo Time
}

func (b *kernelBlock) reset() {
	b.kinds, b.cpuCol, b.times = b.kinds[:0], b.cpuCol[:0], b.times[:0]
	for k := range b.columns {
		for f := range b.columns[k] {
			b.columns[k][f] = b.columns[k][f][:0]
		}
	}
	clear(b.rows[:])
	b.cpus.reset()
	b.tids.reset()
	b.values.reset()
	b.strings.reset()
	b.running = append(b.running[:0], 0)
	clear(b.addr[:])
	b.bytes, b.count = 0, 0
	b.last, b.first, b.upTo = 0, 0, 0
}

func (b *kernelBlock) empty() bool { return len(b.kinds) == 0 }

// size is about how many bytes the content takes before compression.
func (b *kernelBlock) size() int {
	return b.bytes + 4*len(b.tids.list) + 10*len(b.values.list) + 20*len(b.strings.list)
}

// firstUse reports whether the block has not spoken of the task so far.
func (b *kernelBlock) firstUse(tid int32) bool {
	_, isNew := b.tids.number(tid)
	return isNew
}

// add appends one event, whose Kind and Comm the caller has checked.
func (b *kernelBlock) add(e *Event) {
	if b.empty() {
		b.first, b.upTo = e.Time, e.Time
	}
	b.first, b.upTo = min(b.first, e.Time), max(b.upTo, e.Time)
	cpu := b.cpu(e.CPU)
	b.kinds = append(b.kinds, byte(e.Kind))
	b.bytes++
	b.put(&b.cpuCol, cpu)
	b.put(&b.times, zigzag(int64(e.Time-b.last)))
	b.last = e.Time

	columns := &b.columns[e.Kind]
	for f := range fieldCount {
		code := b.code(e, f, cpu)
		if len(columns[f]) == 0 {
			if code == 0 {
				continue
			}
			b.fill(&columns[f], b.rows[e.Kind])
		}
		b.put(&columns[f], code)
	}
	b.rows[e.Kind]++
	if e.Kind == KindSwitch {
		b.running[cpu] = e.Peer
	}
	if !e.repeats() {
		b.count++
	}
}

func (b *kernelBlock) put(column *[]byte, code uint64) {
	before := len(*column)
	*column = binary.AppendUvarint(*column, code)
	b.bytes += len(*column) - before
}

// fill gives a new column a zero for each of the rows before it.
func (b *kernelBlock) fill(column *[]byte, rows int) {
	*column = slices.Grow(*column, rows)[:rows]
	clear(*column)
	b.bytes += rows
}

// repeats reports whether the event only says again who a task is.
func (e *Event) repeats() bool { return e.Kind == KindTask && e.Flags&FlagRepeat != 0 }

// content appends the block's columns to raw.
func (b *kernelBlock) content(raw []byte) []byte {
	raw = appendColumn(raw, colStrings, appendStrings(nil, b.strings.list))
	raw = appendColumn(raw, colCPUSet, appendInts(nil, b.cpus.list))
	raw = appendColumn(raw, colTids, appendInts(nil, b.tids.list))
	raw = appendColumn(raw, colValues, appendValues(nil, b.values.list))
	raw = appendColumn(raw, colKinds, b.kinds)
	raw = appendColumn(raw, colCPUs, b.cpuCol)
	raw = appendColumn(raw, colTimes, b.times)
	for k := range kindLimit {
		for f, column := range b.columns[k] {
			raw = appendColumn(raw, fieldColumn(k, field(f)), column)
		}
	}
	return raw
}
