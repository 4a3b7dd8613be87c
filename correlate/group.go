package correlate

import "slices"

// Group is the requests of one kind in one run: what a request is compared
// with.
type Group struct {
	Kind, Run string
	Steps     []string // names in order of first appearance; see stepBefore
	Base      Baseline
}

// Pseudo steps, so that every moment of a request is in one.
const (
	stepBefore = "(before)" // of a joined row: sent, and not yet begun
	stepAfter  = "(after)"  // of a joined row: ended, and not yet received
	stepRest   = "(rest)"   // inside the window, after its last mark
)

type groupKey struct{ kind, run string }

type groups map[groupKey]*Group

// of returns r's group. A row that joined no window has no kind and so a group
// of its own.
func (g groups) of(r *Request) *Group {
	k := groupKey{r.Kind, r.Run}
	if g[k] == nil {
		g[k] = &Group{Kind: r.Kind, Run: r.Run}
	}
	return g[k]
}

func (g *Group) step(name string) int16 {
	i := slices.Index(g.Steps, name)
	if i < 0 {
		i = len(g.Steps)
		g.Steps = append(g.Steps, name)
	}
	return int16(i)
}

// addStep books running time; the request then has the step, even with 0 ns.
func (r *Request) addStep(step int16, ns int64) {
	for len(r.Steps) <= int(step) {
		r.Steps = append(r.Steps, -1)
	}
	r.Steps[step] = max(r.Steps[step], 0) + ns
}

// StepName returns the name of a step of the group, "" without one.
func (g *Group) StepName(step int16) string {
	if step < 0 || int(step) >= len(g.Steps) {
		return ""
	}
	return g.Steps[step]
}
