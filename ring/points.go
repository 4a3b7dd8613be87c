package ring

// points collects a window's points in the room of MaxPoints words. What does
// not fit is left out so that the rest stays true, and cut is set:
//
//   - A mark that does not fit ends the marks: a later one would seem to have
//     begun at the last that did.
//   - A suspension that does not fit takes the place of the last mark while
//     marks fill more than half of the room, else of the shortest interval
//     between two neighbouring suspends and resumes. So they stay paired, and
//     no error in where the request was is longer than an interval that is
//     kept.
//   - A thread point makes room in the same way.
//
// A suspend without a resume and a resume without a suspend are ignored.
type points struct {
	words   [MaxPoints]uint64
	n       int
	marks   int
	turns   int  // suspends and resumes
	away    bool // suspended: one word is kept free for the resume
	noMarks bool
	cut     bool
}

// reset empties the list; the words keep what they held.
func (l *points) reset() {
	l.n, l.marks, l.turns = 0, 0, 0
	l.away, l.noMarks, l.cut = false, false, false
}

func pointWord(t PointType, name uint8, offset int64) uint64 {
	return uint64(t)<<typeShift | uint64(name)<<nameShift | uint64(min(max(offset, 0), maxOffset))
}

func wordType(w uint64) PointType { return PointType(w >> typeShift) }
func wordOffset(w uint64) int64   { return int64(w & maxOffset) }

func (l *points) free() int {
	if l.away {
		return MaxPoints - l.n - 1
	}
	return MaxPoints - l.n
}

func (l *points) push(w uint64) {
	l.words[l.n] = w
	l.n++
}

func (l *points) add(p Point) {
	switch p.Type {
	case Mark:
		l.mark(p.Name, p.Offset)
	case Suspend:
		l.suspend(p.Name, p.Offset)
	case Resume:
		l.resume(p.Name, p.Offset)
	case Thread:
		l.thread(p.Name, p.Tid, p.Offset)
	}
}

func (l *points) mark(name uint8, offset int64) {
	if l.noMarks || l.free() < 1 {
		l.noMarks, l.cut = true, true
		return
	}
	l.push(pointWord(Mark, name, offset))
	l.marks++
}

func (l *points) suspend(name uint8, offset int64) {
	for !l.away && l.free() < 2 {
		if !l.makeRoom(offset) {
			return
		}
	}
	if l.away { // already, or again since its last resume made room
		return
	}
	l.push(pointWord(Suspend, name, offset))
	l.turns++
	l.away = true
}

func (l *points) resume(name uint8, offset int64) {
	if !l.away {
		return
	}
	l.push(pointWord(Resume, name, offset))
	l.turns++
	l.away = false
}

func (l *points) thread(name uint8, tid uint32, offset int64) {
	for l.free() < 2 {
		if !l.makeRoom(-1) {
			return
		}
	}
	l.push(pointWord(Thread, name, offset))
	l.push(uint64(tid))
}

// makeRoom frees at least one word, or says that it cannot. A suspension that
// is about to be added at offset takes part; -1 where none is.
func (l *points) makeRoom(offset int64) bool {
	l.cut = true
	if l.turns >= 2 && l.marks <= MaxPoints/2 {
		l.dropShortest(offset)
		return true
	}
	l.noMarks = true
	return l.dropLastMark()
}

func (l *points) dropLastMark() bool {
	last := -1
	for i := 0; i < l.n; i++ {
		switch wordType(l.words[i]) {
		case Mark:
			last = i
		case Thread:
			i++
		}
	}
	if last < 0 {
		return false
	}
	l.remove(last)
	l.marks--
	return true
}

func (l *points) dropShortest(offset int64) {
	before, after, prev := -1, -1, -1
	shortest := int64(maxOffset + 1)
	for i := 0; i < l.n; i++ {
		switch wordType(l.words[i]) {
		case Thread:
			i++
		case Suspend, Resume:
			if prev >= 0 {
				gap := wordOffset(l.words[i]) - wordOffset(l.words[prev])
				if gap < shortest {
					before, after, shortest = prev, i, gap
				}
			}
			prev = i
		}
	}
	if !l.away && offset >= 0 && offset-wordOffset(l.words[prev]) < shortest {
		l.remove(prev) // the new suspension goes on where the last one ended
		l.turns--
		l.away = true
		return
	}
	l.remove(after)
	l.remove(before)
	l.turns -= 2
}

func (l *points) remove(i int) {
	copy(l.words[i:], l.words[i+1:l.n])
	l.n--
}
