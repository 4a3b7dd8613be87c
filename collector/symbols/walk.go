package symbols

import (
	"path"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// call is one step of a user stack.
type call struct {
	frame  eventfile.Frame
	mapped bool    // the address is executable memory
	module *module // nil: none, such as code of a JIT compiler
	vaddr  uint64  // in module; 0: not in its code
	site   site
}

// walk puts the calls of a user stack together and tests each step: a caller
// that the kernel's walk has missed must not make a false parent of another.
type walk struct {
	isa      isa
	demangle func(string) string
	frames   []eventfile.Frame
	last     call
	calls    int
	whole    bool // it reached the thread's first function
}

// add takes the next outer call. It returns false where the walk ends.
func (w *walk) add(c *call) bool {
	if w.calls == 0 {
		w.push(c)
		return c.mapped
	}
	if !c.mapped || c.module != nil && c.vaddr == 0 {
		return false
	}
	w.whole = roots[strings.TrimSuffix(c.site.name, goABI)]
	if c.module != nil && !w.whole && !c.site.isCall {
		return false
	}
	if !w.trusted(c) {
		w.missing(c)
	}
	w.push(c)
	return !w.whole
}

// trusted reports whether nothing is missing between the last call and c. Code
// made at run time is not in a file to be asked.
func (w *walk) trusted(c *call) bool {
	if w.last.module == nil || w.last.site.framed {
		return true
	}
	return c.module == w.last.module && c.site.target != 0 && c.site.target == w.last.site.start
}

func (w *walk) push(c *call) {
	w.frames = append(w.frames, c.frame)
	w.last = *c
	w.calls++
}

// missing puts in what c's code tells to be between the last call and c, and
// says where that need not be all.
func (w *walk) missing(c *call) {
	if c.site.callee == "" || c.module != w.last.module || !w.callsLast(c) {
		w.frames = append(w.frames, eventfile.Frame{Symbol: eventfile.FrameMissing})
	}
	if c.site.callee == "" {
		return
	}
	offset, _ := c.module.offset(c.site.target)
	w.frames = append(w.frames, eventfile.Frame{
		Addr:   c.frame.Addr + c.site.target - c.vaddr,
		Offset: offset,
		Module: c.frame.Module,
		Symbol: w.demangle(c.site.callee),
	})
}

// callsLast reports whether the function that c calls has a call of the last
// one in turn.
func (w *walk) callsLast(c *call) bool {
	code := c.module.bytesAt(c.site.target, int(min(c.site.size, maxFunction)))
	return w.last.site.start != 0 && w.isa.calls(code, c.site.target, w.last.site.start)
}

// maxFunction is how much of a function is searched, bytes.
const maxFunction = 64 << 10

// finish returns the frames, and says at the outer end what is missing there.
// deep says that the walk went all the way and the stack had more frames.
func (w *walk) finish(deep bool) []eventfile.Frame {
	switch {
	case w.whole:
	case w.calls > 1 && isLibC(w.last.frame.Module): // stripped: what it calls a program from has no name
	case deep:
		w.frames = append(w.frames, eventfile.Frame{Symbol: eventfile.FrameDeep})
	default:
		w.frames = append(w.frames, eventfile.Frame{Symbol: eventfile.FrameCut})
	}
	return w.frames
}

// roots are functions that nothing calls.
var roots = map[string]bool{
	"_start": true, "__libc_start_main": true, "__libc_start_call_main": true, "__libc_start_main_impl": true,
	"start_thread": true, "clone": true, "clone3": true, "__clone": true, "__clone3": true, "thread_start": true,
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "runtime.mcall": true,
}

// isLibC: a C library, which calls a thread's first function.
func isLibC(module string) bool {
	name := path.Base(module)
	return strings.HasPrefix(name, "libc.") || strings.HasPrefix(name, "libc-") ||
		strings.HasPrefix(name, "libpthread") || strings.HasPrefix(name, "ld-musl")
}
