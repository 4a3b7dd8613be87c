package eventfile

// keepTasks is how many identities a Writer keeps at least. A machine that
// starts many short processes must not make it grow without end.
const keepTasks = 1 << 15

// tasks remembers who the tids are, in two generations: when young is full it
// becomes old, and what was not asked for in all that time is forgotten.
type tasks struct{ young, old map[int32]identity }

type identity struct {
	flags Flags
	tgid  int32
	start uint64
	comm  string
}

func (t *tasks) remember(tid int32, id identity) {
	if t.young == nil || len(t.young) >= keepTasks {
		t.old, t.young = t.young, make(map[int32]identity)
	}
	t.young[tid] = id
}

func (t *tasks) find(tid int32) (identity, bool) {
	id, ok := t.young[tid]
	if ok {
		return id, true
	}
	id, ok = t.old[tid]
	if ok {
		t.remember(tid, id)
	}
	return id, ok
}
