package eventfile

import (
	"math"
	"slices"
)

// untilNext as the last time of a damage stands for the first kernel event
// after it, as long as that was not read yet.
const untilNext = Time(math.MaxInt64)

// damageLog keeps the damage of a file, and turns what it did to the kernel
// events into a Loss.
type damageLog struct {
	all  []Damage
	open bool // the last of all goes on
	loss *Loss
	// untold losses wait until the times of the damage are settled, as do
	// the Damages from unsettled on.
	untold    []*Loss
	unsettled int
}

// add notes damage at off, which goes on until close. f is the frame that
// stands there if that is sound; otherwise what is lost lies after since.
func (l *damageLog) add(off int64, reason string, f *frame, since Time) {
	if !l.open {
		l.open = true
		l.all = append(l.all, Damage{Offset: off, Reason: reason})
		l.loss = nil
	}
	d := &l.all[len(l.all)-1]
	first, last, events := since, untilNext, uint64(0)
	if f != nil {
		first, last, events = f.first, f.last, f.lost
		d.Records = addSaturating(d.Records, uint64(f.count))
		if f.kind == frameKernel {
			events = uint64(f.count)
		}
	}
	d.First, d.Last = span(d.First, d.Last, first, last)
	if f == nil || events > 0 {
		if l.loss == nil {
			l.loss = &Loss{Source: LossFile, CPU: -1, What: reason}
			l.untold = append(l.untold, l.loss)
		}
		l.loss.Count = addSaturating(l.loss.Count, events)
		l.loss.First, l.loss.Last = span(l.loss.First, l.loss.Last, first, last)
	}
}

// span widens a range, which is empty where both ends are zero.
func span(first, last, from, to Time) (Time, Time) {
	if first == 0 && last == 0 {
		return from, to
	}
	return min(first, from), max(last, to)
}

// close ends the damage at off, after which the file can be read again.
func (l *damageLog) close(off int64, blocks uint64) {
	if l.open {
		l.open = false
		d := &l.all[len(l.all)-1]
		d.Length, d.Blocks = off-d.Offset, blocks
	}
}

// settle returns the losses since the last call, given the time from which on
// kernel events are there again.
func (l *damageLog) settle(until Time) []*Loss {
	for i := range l.all[l.unsettled:] {
		d := &l.all[l.unsettled+i]
		if d.Last == untilNext {
			d.Last = max(d.First, until)
		}
	}
	for _, loss := range l.untold {
		if loss.Last == untilNext {
			loss.Last = max(loss.First, until)
		}
	}
	told := l.untold
	l.untold, l.unsettled = nil, len(l.all)
	return told
}

// settleTorn is settle for the end of a file that has no end block: what the
// missing end held has no last time.
func (l *damageLog) settleTorn() []*Loss {
	for i := range l.all[l.unsettled:] {
		d := &l.all[l.unsettled+i]
		if d.Last == untilNext {
			d.First, d.Last = 0, 0
		}
	}
	l.untold = slices.DeleteFunc(l.untold, func(loss *Loss) bool { return loss.Last == untilNext })
	return l.settle(0)
}
