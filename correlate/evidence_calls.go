package correlate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// inCalls names the calls that a thread was in while it was in p, with the
// number of samples that say so: none of a wait, whose stack is exact.
func (rec *Recording) inCalls(l *link, p part.Part) (calls []string, samples int64) {
	switch {
	case p == part.Running:
		return rec.mostlyIn(l.stacks)
	case p.Voluntary() && l.block != nil:
		return rec.calls(l.block.Stack), 0
	}
	return nil, 0
}

// mostlyIn picks the innermost function of most of the sampled stacks, and of
// those with it the one that was seen most, or else that shows most.
func (rec *Recording) mostlyIn(stacks map[uint64]int64) (calls []string, samples int64) {
	type seen struct {
		calls []string
		n     int64
	}
	whole, inner := map[string]*seen{}, map[string]int64{}
	for id, n := range stacks {
		c := rec.calls(id)
		if len(c) == 0 {
			continue
		}
		key := strings.Join(c, "\x00")
		if whole[key] == nil {
			whole[key] = &seen{calls: c}
		}
		whole[key].n += n
		inner[c[0]] += n
	}
	var best *seen
	for _, s := range whole {
		if best == nil || cmp.Or(
			cmp.Compare(inner[s.calls[0]], inner[best.calls[0]]), strings.Compare(best.calls[0], s.calls[0]),
			cmp.Compare(s.n, best.n), cmp.Compare(len(s.calls), len(best.calls)), slices.Compare(best.calls, s.calls),
		) > 0 {
			best = s
		}
	}
	if best == nil {
		return nil, 0
	}
	return best.calls, inner[best.calls[0]]
}

// calls names the calls of a stack, the innermost first: the program's, or
// where those are not known the kernel's. Neighbours without a name in one
// module are one.
func (rec *Recording) calls(id uint64) []string {
	s := rec.stacks[id]
	if s == nil {
		return nil
	}
	frames := s.Frames
	if i := slices.IndexFunc(frames, isProgram); i >= 0 {
		frames = frames[i:]
	}
	var names []string
	for i := range frames {
		names = append(names, callName(&frames[i]))
	}
	return slices.Compact(names)
}

// isProgram: a call of the program itself, not a remark.
func isProgram(f eventfile.Frame) bool { return f.Addr != 0 && !f.InKernel() }

// callName is Frame.Name without the place in a function: samples differ in it.
func callName(f *eventfile.Frame) string {
	if f.Symbol == "" && f.Module != "" {
		return path.Base(f.Module)
	}
	return f.Name()
}
