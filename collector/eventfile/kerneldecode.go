package eventfile

import "fmt"

// kernelReader takes the events out of a kernel block.
type kernelReader struct {
	kinds, cpuCol, times cursor
	columns              [kindLimit][fieldCount]cursor
	present              [kindLimit][]field // the fields to set, ascending

	cpus    dict[int32]
	tids    dict[int32]
	values  dict[uint64]
	strings dict[string]

	running []int32           // by number in cpus: the task expected there
	addr    [kindLimit]uint64 // Addr of the last event of the kind
	last    Time              // of the last event

	count   uint64 // events so far, repeats not counted
	unknown uint64 // of these: of a newer minor version, not delivered
	bad     string // why the block cannot be read on
}

// open starts on the content of a block and keeps raw until the next open.
func (b *kernelReader) open(raw []byte) {
	*b = kernelReader{present: b.present, running: b.running[:0],
		cpus: b.cpus, tids: b.tids, values: b.values, strings: b.strings}
	var cpuSet, tids, values, strings cursor
	special := map[uint64]*cursor{
		colKinds: &b.kinds, colCPUs: &b.cpuCol, colTimes: &b.times,
		colCPUSet: &cpuSet, colTids: &tids, colValues: &values, colStrings: &strings,
	}
	whole := eachColumn(raw, func(number uint64, data []byte) {
		k, f := number>>5, field(number&31)
		if c := special[number]; c != nil {
			c.buf = data
		} else if 0 < k && k < uint64(kindLimit) && f < fieldCount {
			b.columns[k][f].buf = data
		}
	})
	whole = whole && b.cpus.read(cpuSet, getInt) && b.tids.read(tids, getInt) &&
		b.values.read(values, (*cursor).uvarint) && b.strings.read(strings, getString)
	if !whole {
		b.bad = "its columns or dictionaries are cut short"
		return
	}
	b.running = append(b.running, make([]int32, len(b.cpus.list))...)
	b.choose()
}

// choose lists the fields that events of each kind have in this block. The
// running task is one even without a column: it is then always the expected.
func (b *kernelReader) choose() {
	for k := range kindLimit {
		b.present[k] = b.present[k][:0]
		for f := range fieldCount {
			if len(b.columns[k][f].buf) > 0 || f == runningField[k] {
				b.present[k] = append(b.present[k], f)
			}
		}
	}
}

// next reads one event into e. It returns false at the end of the block and
// at damage, which bad then tells.
func (b *kernelReader) next(e *Event) bool {
	for b.bad == "" && b.kinds.len() > 0 {
		kind := b.kinds.uvarint()
		cpu := column(&b.cpuCol)
		b.last += Time(unzigzag(column(&b.times)))
		number, ok := b.cpus.value(cpu)
		if !ok || b.kinds.failed || b.cpuCol.failed || b.times.failed {
			b.bad = fmt.Sprintf("row %d has no kind, CPU or time", b.count)
			return false
		}
		if kind == 0 || kind >= uint64(kindLimit) {
			b.count++
			b.unknown++
			continue
		}
		*e = Event{Kind: Kind(kind), CPU: number, Time: b.last, Syscall: NoSyscall}
		return b.fields(e, cpu)
	}
	if b.bad == "" {
		b.checkRest()
	}
	return false
}

func (b *kernelReader) fields(e *Event, cpu uint64) bool {
	for _, f := range b.present[e.Kind] {
		c := &b.columns[e.Kind][f]
		if ok := b.set(e, f, column(c), cpu); !ok || c.failed {
			b.bad = fmt.Sprintf("column %d is wrong in front of its byte %d", fieldColumn(e.Kind, f), c.off)
			return false
		}
	}
	if e.Kind == KindSwitch {
		b.running[cpu] = e.Peer
	}
	if !e.repeats() {
		b.count++
	}
	return true
}

// column reads a row of a column, which is left out where it is all zero.
func column(c *cursor) uint64 {
	if c.buf == nil {
		return 0
	}
	return c.uvarint()
}

// checkRest finds columns that are longer than the block has events.
func (b *kernelReader) checkRest() {
	rest := b.cpuCol.len() + b.times.len()
	for k := range b.columns {
		for f := range b.columns[k] {
			rest += b.columns[k][f].len()
		}
	}
	if rest > 0 {
		b.bad = fmt.Sprintf("%d bytes of its columns belong to no event", rest)
	}
}
