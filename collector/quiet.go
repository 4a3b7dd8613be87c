package collector

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// QuietLimits say what a quiet machine is.
type QuietLimits struct {
	MaxLoad float64       // load average over a minute
	MaxCPU  float64       // share of time, 0 to 1, that the busiest CPU may be busy
	Watch   time.Duration // how long CPUs are watched
	For     time.Duration // how long it must stay quiet: until then nothing may be due
	Allow   []string      // names of conditions that need not hold
}

// QuietConditions are the names of all conditions, in the order of printing.
var QuietConditions = []string{"load", "cpu", "steal", "timers", "cron", "governor", "thp", "swap", "sessions"}

// ConditionError names a condition that there is not.
type ConditionError struct{ Name string }

func (e *ConditionError) Error() string {
	return fmt.Sprintf("check for quiet: there is no condition %q, only %s", e.Name, strings.Join(QuietConditions, ", "))
}

// Condition is one thing that a quiet machine is held to.
type Condition struct {
	Name    string `json:"name"`
	Value   string `json:"value"`             // what was found
	Broken  string `json:"broken,omitempty"`  // why it does not hold; "" where it does
	Fix     string `json:"fix,omitempty"`     // what can be done about it
	Allowed bool   `json:"allowed,omitempty"` // it need not hold
}

// Quiet is a machine held to all conditions.
type Quiet struct {
	Conditions []Condition `json:"conditions"`
}

// CheckQuiet watches the machine for a moment and asks for what is due to
// disturb it.
func CheckQuiet(ctx context.Context, l QuietLimits) (*Quiet, error) {
	for _, name := range l.Allow {
		if !slices.Contains(QuietConditions, name) {
			return nil, &ConditionError{name}
		}
	}
	busy, steal, err := watchCPUs(ctx, l)
	if err != nil {
		return nil, fmt.Errorf("check for quiet: %w", err)
	}
	m := machine{root: "/", now: time.Now()}
	q := &Quiet{}
	q.add(m.load(l.MaxLoad), busy, steal, m.timers(ctx, l.For), m.cron(l.For), m.governor(), m.thp(), m.swap(), m.sessions())
	for i := range q.Conditions {
		q.Conditions[i].Allowed = slices.Contains(l.Allow, q.Conditions[i].Name)
	}
	return q, nil
}

func (q *Quiet) add(c ...Condition) { q.Conditions = append(q.Conditions, c...) }

// Broken lists the conditions that do not hold and need to.
func (q *Quiet) Broken() (list []Condition) {
	for _, c := range q.Conditions {
		if c.Broken != "" && !c.Allowed {
			list = append(list, c)
		}
	}
	return list
}

// String is the answer in one line, for the record.
func (q *Quiet) String() string {
	var found, broken []string
	for _, c := range q.Conditions {
		found = append(found, c.Name+" "+c.Value)
		if c.Broken != "" {
			broken = append(broken, c.Name)
		}
	}
	answer := "the machine was quiet before the recording: "
	if len(broken) > 0 {
		answer = "the machine was not quiet before the recording (" + strings.Join(broken, ", ") + "), which was allowed: "
	}
	return answer + strings.Join(found, "; ")
}

// machine reads what a machine tells of itself below root.
type machine struct {
	root string
	now  time.Time
}

func (m machine) path(name string) string { return filepath.Join(m.root, name) }

// text is a file's content without space around it; "" where it cannot be
// read.
func (m machine) text(name string) string {
	b, err := os.ReadFile(m.path(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// firstOf joins the first few of a list.
func firstOf(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}
