package eventfile

import "fmt"

// Event adds a kernel event. Events may step back a little in time.
//
// A tid that an event speaks of is introduced again in every block where it
// occurs, so that the block can be read without the ones before it: a reader
// meets a KindTask with FlagRepeat, at the time of the event that follows it.
// It says nothing new to a reader of the whole file, and to take it like any
// KindTask does no harm. Repeats are in no count of events. A repeat given to
// Event is remembered and written where it is needed.
func (w *Writer) Event(e *Event) error {
	switch {
	case w.err != nil:
		return w.err
	case e.Kind == 0 || e.Kind >= kindLimit:
		return fmt.Errorf("write event: kind %d is not known", e.Kind)
	case len(e.Comm) > maxComm:
		return fmt.Errorf("write event: comm of %d bytes: %w", len(e.Comm), ErrTooLarge)
	}
	if e.Kind == KindTask {
		w.tasks.remember(e.Tid, identity{e.Flags, e.Tgid, e.Start, e.Comm})
		if e.repeats() {
			return nil
		}
		w.kernel.firstUse(e.Tid)
	}
	w.introduce(e.Tid, e)
	w.introduce(e.Peer, e)
	w.introduce(e.Owner, e)
	w.kernel.add(e)
	w.totals.Events++
	if w.kernel.size() >= closeBytes {
		return w.writeKernel()
	}
	return nil
}

// introduce repeats the identity of tid where the block does not have it yet.
func (w *Writer) introduce(tid int32, user *Event) {
	if !w.kernel.firstUse(tid) {
		return
	}
	if id, ok := w.tasks.find(tid); ok {
		w.kernel.add(&Event{
			Kind: KindTask, Flags: id.flags | FlagRepeat, CPU: user.CPU, Time: user.Time,
			Tid: tid, Tgid: id.tgid, Start: id.start, Comm: id.comm, Syscall: NoSyscall,
		})
	}
}
