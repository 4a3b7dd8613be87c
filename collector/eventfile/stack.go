package eventfile

import (
	"fmt"
	"path"
	"strings"
)

// Stack is the calls that a thread was in, behind the id in Event.Stack. It
// was given names while the recording was made, when the process could still
// be asked.
type Stack struct {
	ID     uint64
	Pid    int32
	Frames []Frame // the innermost first, so those of the kernel before the program's
}

// Frame is one call. One that has nothing but a Symbol is no call: it says
// what the stack does not show.
type Frame struct {
	Addr    uint64 // in memory; but for the innermost, where the call returns to
	Offset  uint64 // Addr in Module's file
	Module  string // path of the mapped file, or "[kernel]", "[vdso]", "[jit]", ...
	BuildID string // of Module, in hex; only where there is no Symbol
	Symbol  string // the function, demangled; "" where it has no name
}

// Name is how a person knows a call: its function, or else its place.
func (f *Frame) Name() string {
	switch {
	case f.Symbol != "":
		return f.Symbol
	case f.Module != "" && f.Offset != 0:
		return fmt.Sprintf("%s+%#x", path.Base(f.Module), f.Offset)
	}
	return fmt.Sprintf("%s%#x", f.Module, f.Addr)
}

// InKernel: the call is in the kernel or one of its modules.
func (f *Frame) InKernel() bool { return f.Addr>>63 == 1 && strings.HasPrefix(f.Module, "[") }

// What a stack does not show, as the Symbol of a Frame.
const (
	FrameMissing = "[calls missing]"           // some number of calls between the neighbours
	FrameCut     = "[user stack not walkable]" // all outer calls
	FrameDeep    = "[outer calls not recorded]"
)
