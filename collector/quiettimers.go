package collector

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// timers asks systemd which timers fire within the time.
func (m machine) timers(ctx context.Context, within time.Duration) Condition {
	c := Condition{Name: "timers"}
	if _, err := os.Stat(m.path("run/systemd/system")); err != nil {
		c.Value = "no systemd"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", "list-timers", "--output=json", "--no-pager")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return unknownTimers(fmt.Sprintf("systemctl list-timers: %v %s", err, bytes.TrimSpace(stderr.Bytes())))
	}
	list, err := parseTimers(text)
	if err != nil {
		return unknownTimers("systemctl does not list timers as JSON (before systemd 248)")
	}
	return timersCondition(list, m.now, within)
}

func unknownTimers(why string) Condition {
	return Condition{Name: "timers", Value: "not known", Broken: strings.TrimSpace(why), Fix: "systemctl list-timers"}
}

// timer is one of systemd's, and when it fires next.
type timer struct {
	unit string
	next time.Time
}

// parseTimers reads an array of objects with next in us since 1970, 0 or null
// for a timer that does not fire.
func parseTimers(text []byte) (list []timer, err error) {
	var raw []struct {
		Next *int64 `json:"next"`
		Unit string `json:"unit"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("parse timers: %w", err)
	}
	for _, r := range raw {
		if r.Next != nil && *r.Next > 0 {
			list = append(list, timer{r.Unit, time.UnixMicro(*r.Next)})
		}
	}
	slices.SortFunc(list, func(a, b timer) int { return cmp.Or(a.next.Compare(b.next), cmp.Compare(a.unit, b.unit)) })
	return list, nil
}

func timersCondition(list []timer, now time.Time, within time.Duration) Condition {
	c := Condition{Name: "timers", Value: "none active"}
	var due, stop []string
	for _, t := range list {
		if t.next.Before(now.Add(within)) {
			due = append(due, fmt.Sprintf("%s in %v", t.unit, t.next.Sub(now).Round(time.Second)))
			stop = append(stop, t.unit)
		}
	}
	if len(list) > 0 {
		c.Value = fmt.Sprintf("%d due within %v, the next is %s in %v", len(due), within, list[0].unit, list[0].next.Sub(now).Round(time.Second))
	}
	if len(due) > 0 {
		c.Broken, c.Fix = "due: "+firstOf(due, 3), "systemctl stop "+firstOf(stop, 3)
	}
	return c
}
