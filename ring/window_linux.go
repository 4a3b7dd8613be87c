package ring

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Window is a request being served. It belongs to one goroutine at a time,
// comes from a pool, and must not be used after End. All methods of a nil
// Window do nothing.
//
// The thread ids of a window are those of the threads that call Begin and End.
// In Go they mean something only if the goroutine stays on its thread:
// call runtime.LockOSThread before Begin.
type Window struct {
	p     *Publisher
	slot  Slot
	list  points
	frame frame // here because the checksum makes it escape
	on    bool  // slot.Tid was given by the caller
}

var windows = sync.Pool{New: func() any { return new(Window) }}

// Begin opens the window of the request with a number for its id, of the kind
// with that name id. It reads the clock and the thread's id (a system call),
// and so does End.
func (p *Publisher) Begin(id uint64, kind uint8) *Window {
	return p.begin(NumberID(id), kind, 0, 0)
}

// BeginRaw is Begin for an id of 16 raw bytes: a UUID, a trace id, or the MD5
// of any other string.
func (p *Publisher) BeginRaw(id [16]byte, kind uint8) *Window {
	return p.begin(id, kind, FlagRawID, 0)
}

// BeginOn is Begin for a goroutine that is locked to the thread tid. It saves
// the two system calls.
func (p *Publisher) BeginOn(tid uint32, id uint64, kind uint8) *Window {
	return p.begin(NumberID(id), kind, 0, tid)
}

func (p *Publisher) begin(id [16]byte, kind, flags uint8, tid uint32) *Window {
	if p.off() {
		return nil
	}
	w := windows.Get().(*Window)
	w.p = p
	w.on = tid != 0
	if !w.on {
		tid = uint32(unix.Gettid())
	}
	w.list.reset()
	w.slot = Slot{Type: Request, Kind: kind, Flags: flags, ID: id, Tid: tid, EndTid: tid, Begin: Now()}
	return w
}

func (w *Window) since() int64 { return Now() - w.slot.Begin }

// Mark says that a step ends here; it began at the mark before or at Begin.
func (w *Window) Mark(name uint8) {
	if w != nil {
		w.list.mark(name, w.since())
	}
}

// Suspend says that the request leaves its thread, to wait for something.
func (w *Window) Suspend(name uint8) {
	if w != nil {
		w.list.suspend(name, w.since())
	}
}

// Resume says that the request is back on its thread.
func (w *Window) Resume(name uint8) {
	if w != nil {
		w.list.resume(name, w.since())
	}
}

// Thread says that the request goes on in thread tid.
func (w *Window) Thread(tid uint32) {
	if w == nil {
		return
	}
	w.list.thread(0, tid, w.since())
	if w.on {
		w.slot.EndTid = tid
	}
}

// SetFlags adds flags: FlagError, FlagTimeout, FlagWarmup.
func (w *Window) SetFlags(f uint8) {
	if w != nil {
		w.slot.Flags |= f &^ FlagRawID
	}
}

// SetCPU says how much CPU time the request took, ns, where it was measured.
func (w *Window) SetCPU(ns uint64) {
	if w != nil {
		w.slot.CPU = ns
	}
}

// End closes the window and publishes it. A window that is never ended is
// never seen.
func (w *Window) End() {
	if w == nil || w.p == nil {
		return
	}
	w.slot.End = Now()
	if !w.on {
		w.slot.EndTid = uint32(unix.Gettid())
	}
	w.frame.fill(&w.slot, &w.list)
	w.p.publish(&w.frame)
	w.p = nil
	windows.Put(w)
}
