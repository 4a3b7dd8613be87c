package timeline

import "github.com/tailtrace/tailtrace/collector/eventfile"

// Ref names a task in a Tasks table. Zero is an unknown task.
type Ref uint32

// Idle is the Ref of every CPU's idle task.
const Idle Ref = 1

// Task is a task as the trace knew it at one time. A tid that is reused or
// renamed has several.
type Task struct {
	Tid, Tgid int32
	Comm      string
	Start     uint64
	Target    bool
	Kthread   bool
}

// Tasks interns the identities behind tids.
type Tasks struct {
	list    []Task
	current map[int32]Ref
	known   map[Task]Ref
}

// NewTasks returns a table that knows the idle task.
func NewTasks() *Tasks {
	return &Tasks{
		list:    []Task{{}, {Comm: "idle", Kthread: true}},
		current: map[int32]Ref{0: Idle},
		known:   map[Task]Ref{},
	}
}

// Add takes a KindTask event.
func (t *Tasks) Add(e *eventfile.Event) {
	if e.Tid == 0 {
		return
	}
	task := Task{
		Tid: e.Tid, Tgid: e.Tgid, Comm: e.Comm, Start: e.Start,
		Target:  e.Flags&eventfile.FlagTarget != 0,
		Kthread: e.Flags&eventfile.FlagKthread != 0,
	}
	ref, ok := t.known[task]
	if !ok {
		ref = Ref(len(t.list))
		t.list = append(t.list, task)
		t.known[task] = ref
	}
	t.current[e.Tid] = ref
}

// Now returns who has tid at this point of the trace; 0 where nobody is known.
func (t *Tasks) Now(tid int32) Ref { return t.current[tid] }

// Get returns the task behind ref.
func (t *Tasks) Get(ref Ref) Task {
	if int(ref) < len(t.list) {
		return t.list[ref]
	}
	return Task{}
}
