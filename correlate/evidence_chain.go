package correlate

import (
	"fmt"
	"strings"

	"github.com/tailtrace/tailtrace/correlate/part"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// chainEvidence says of each thread that the request waited for what it mostly
// did meanwhile.
func (rec *Recording) chainEvidence(list []Evidence, st *story) []Evidence {
	for i := range st.links {
		l := &st.links[i]
		for p, ns := range l.times {
			total := l.times.Sum()
			if ns < minEvidence || 5*ns < total || part.Part(p) == part.Unknown {
				continue
			}
			e := rec.taskEvidence(l.what, l.task)
			e.Part, e.NS, e.Depth = l.waited.String(), ns, l.depth
			e.Context, e.State = rec.didWhat(l, part.Part(p)), part.Part(p).String()
			e.Calls, e.Count = rec.inCalls(l, part.Part(p))
			if l.request >= 0 {
				r := rec.requests[l.request]
				e.Request, e.Step = r.Label(), r.group.StepName(l.step)
			}
			list = append(list, e)
		}
	}
	return list
}

// didWhat is a thread's state in words: "preempted by hog[7]", "in fsync (io)".
func (rec *Recording) didWhat(l *link, p part.Part) string {
	switch {
	case p == part.Preempted && l.occupant != 0:
		return "preempted by " + rec.taskText(l.occupant)
	case p == part.Waking && l.occupant != 0:
		return "waiting for the CPU behind " + rec.taskText(l.occupant)
	case p.Voluntary() && l.block != nil && l.block.Syscall != "":
		if on := rec.places.object(l.block); on != "" {
			return fmt.Sprintf("in %s on %s (%s)", l.block.Syscall, on, p)
		}
		return fmt.Sprintf("in %s (%s)", l.block.Syscall, p)
	}
	return p.String()
}

func (rec *Recording) taskText(ref timeline.Ref) string {
	t := rec.tasks.Get(ref)
	if t.Tid == 0 {
		return t.Comm
	}
	return fmt.Sprintf("%s[%d]", strings.ToValidUTF8(t.Comm, "\uFFFD"), t.Tid)
}
