package report

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/tailtrace/tailtrace/correlate"
)

// Culprit says in one phrase what stands behind a request's verdict, from its
// evidence: "hog[231] had the CPU for 4.1 ms". Empty where nothing was seen.
func Culprit(r *Request) string {
	var phrases []string
	var named int32 // the thread that the last phrase was about
	for _, want := range leads(r) {
		e := r.find(want)
		if e == nil {
			continue
		}
		if isChain(e) {
			phrases = append(phrases, chainPhrase(e, named))
		} else {
			phrases = append(phrases, phrase(e))
		}
		named = e.Tid
	}
	return strings.Join(phrases, "; ")
}

// find returns the evidence for a lead that weighs most. Of threads that were
// waited for it prefers one that did not wait for a lock in turn: who held up
// the others is further along.
func (r *Request) find(want lead) *correlate.Evidence {
	var first *correlate.Evidence
	for i := range r.Evidence {
		e := &r.Evidence[i]
		if e.What != want.what || want.part != "" && e.Part != want.part || !outOfTheOrdinary(r, e) {
			continue
		}
		if !isChain(e) || e.State != "lock" {
			return e
		}
		if first == nil {
			first = e
		}
	}
	return first
}

// outOfTheOrdinary leaves out figures that are much as in normal requests: they
// are in the JSON, but explain nothing.
func outOfTheOrdinary(r *Request, e *correlate.Evidence) bool {
	if e.What == correlate.EvidenceOtherTask {
		i := slices.IndexFunc(r.Evidence, func(e correlate.Evidence) bool { return e.What == correlate.EvidenceOtherCPUs })
		return i < 0 || outOfTheOrdinary(r, &r.Evidence[i])
	}
	if e.Value == nil || e.Normal == nil {
		return true
	}
	v, n := *e.Value, *e.Normal
	switch e.What {
	case correlate.EvidenceOtherCPUs:
		return v >= n+0.2
	case correlate.EvidenceSteal:
		return v >= n+0.02
	case correlate.EvidenceCold:
		return v >= 2*n && v >= n+50_000 // ns
	case correlate.EvidenceFrequency:
		return v <= 0.9*n
	}
	return countsDiffer(e.What, v, n)
}

// lead is a kind of evidence to look for.
type lead struct{ what, part string }

// leads lists what best tells a verdict, best first. All that are found are
// shown.
func leads(r *Request) []lead {
	switch r.Verdict {
	case correlate.VerdictSlowStep:
		return append([]lead{{correlate.EvidenceStep, ""}, {correlate.EvidenceLateSwitch, ""}}, countLeads...)
	case correlate.VerdictMoreWork:
		return append(countLeads[:len(countLeads):len(countLeads)], lead{correlate.EvidenceStretch, ""})
	case correlate.VerdictSlowCore, correlate.VerdictUnexplained:
		return slices.Concat([]lead{{correlate.EvidenceAway, ""}, {correlate.EvidenceLateSwitch, ""}, {correlate.EvidenceStretch, ""}}, countLeads, []lead{
			{correlate.EvidenceSampleGap, ""}, {correlate.EvidenceSteal, ""},
			{correlate.EvidenceCold, ""}, {correlate.EvidenceOtherCPUs, ""}, {correlate.EvidenceOtherTask, ""},
		})
	case correlate.VerdictIncomplete:
		return []lead{{correlate.EvidenceUnseen, ""}}
	case correlate.VerdictQueued:
		return []lead{{correlate.EvidenceRequest, ""}}
	case correlate.VerdictMixed:
		var list []lead
		for _, p := range r.Mixed {
			list = append(list, partLeads(r, p)...)
		}
		return list
	}
	if list := partLeads(r, r.Verdict); len(list) > 0 {
		return list
	}
	return []lead{{correlate.EvidenceSpan, ""}}
}

func waitLeads(p string) []lead {
	return []lead{{correlate.EvidenceWait, p}, {correlate.EvidenceWaker, p}, {correlate.EvidenceWakerWas, p}}
}

func (r *Request) has(what string) bool {
	return slices.ContainsFunc(r.Evidence, func(e correlate.Evidence) bool { return e.What == what })
}

func partLeads(r *Request, p string) []lead {
	switch p {
	case "running":
		return append([]lead{{correlate.EvidenceStretch, ""}}, countLeads...)
	case "preempted", "waking":
		return []lead{{correlate.EvidenceOccupant, p}}
	case "throttled":
		return []lead{{correlate.EvidenceThrottled, p}}
	case "lock":
		if r.has(correlate.EvidenceHolder) {
			return []lead{{correlate.EvidenceHolder, p}, {correlate.EvidenceHolderWas, p}, {correlate.EvidenceWait, p}}
		}
		return waitLeads(p)
	case "io", "net", "sleep", "stopped", "blocked", "fault-io":
		return waitLeads(p)
	case "irq", "softirq", "nmi":
		return []lead{{correlate.EvidenceInterrupt, p}}
	case "fault":
		return []lead{{correlate.EvidenceFaults, ""}, {correlate.EvidenceFaultTrap, ""}}
	case "other-request":
		return []lead{{correlate.EvidenceRequest, ""}}
	case "client":
		return []lead{{correlate.EvidenceClient, ""}}
	}
	return nil
}

func phrase(e *correlate.Evidence) string {
	switch e.What {
	case correlate.EvidenceOccupant:
		return fmt.Sprintf("%s had the CPU for %s", whoseUnit(e), Duration(e.NS))
	case correlate.EvidenceWait:
		return waitPhrase(e)
	case correlate.EvidenceWaker:
		if e.Context != "" {
			return "woken in " + e.Context + " context"
		}
		return "woken by " + who(e)
	case correlate.EvidenceHolder:
		return "held by " + who(e)
	case correlate.EvidenceInterrupt:
		return fmt.Sprintf("%s x%d, %s", e.Name, e.Count, Duration(e.NS))
	case correlate.EvidenceFaults:
		return faultPhrase(e)
	case correlate.EvidenceThrottled:
		return throttledPhrase(e)
	case correlate.EvidenceFaultTrap:
		return fmt.Sprintf("trapping into %d of them about %s (estimate)", e.Count, Duration(e.NS))
	case correlate.EvidenceClient:
		if e.Context == "before" {
			return fmt.Sprintf("%s before the service had the request", Duration(e.NS))
		}
		return fmt.Sprintf("%s after the service had answered", Duration(e.NS))
	case correlate.EvidenceRequest:
		return fmt.Sprintf("behind request %s for %s", e.Request, Duration(e.NS))
	case correlate.EvidenceSpan:
		return fmt.Sprintf("%s for %s", Printable(e.Name), Duration(e.NS))
	}
	return figurePhrase(e)
}

func figurePhrase(e *correlate.Evidence) string {
	var v, n float64
	if e.Value != nil && e.Normal != nil {
		v, n = *e.Value, *e.Normal
	}
	switch e.What {
	case correlate.EvidenceStep:
		if v >= 1e6 { // its normal time is too short to divide by
			return fmt.Sprintf("%s ran %s longer", Printable(e.Name), Duration(e.NS))
		}
		return fmt.Sprintf("%s ran %.2g times its normal time, +%s", Printable(e.Name), v, Duration(e.NS))
	case correlate.EvidenceUnseen:
		return fmt.Sprintf("without the CPU for %s, as the kernel counted and did not report", Duration(e.NS))
	case correlate.EvidenceLateSwitch:
		return fmt.Sprintf("its CPU was %s late to switch", Duration(e.NS))
	case correlate.EvidenceAway:
		return fmt.Sprintf("its CPU was away for %s (normal %s)", Duration(int64(v)), Duration(int64(n)))
	case correlate.EvidenceStretch:
		return fmt.Sprintf("ran %.2f times the normal time", v)
	case correlate.EvidenceSteal:
		return fmt.Sprintf("steal %.0f%% (normal %.0f%%)", 100*v, 100*n)
	case correlate.EvidenceOtherCPUs:
		return fmt.Sprintf("other CPUs %.0f%% busy (normal %.0f%%)", 100*v, 100*n)
	case correlate.EvidenceOtherTask:
		return "there " + whoseUnit(e)
	case correlate.EvidenceCold:
		return fmt.Sprintf("others had its CPU for %s before (normal %s)", Duration(int64(v)), Duration(int64(n)))
	case correlate.EvidenceSampleGap:
		return fmt.Sprintf("no tick for %s on the CPU (one each %s)", Duration(int64(v)), Duration(int64(n)))
	case correlate.EvidenceFrequency:
		return fmt.Sprintf("%.0f MHz (normal %.0f)", v/1e3, n/1e3)
	}
	return countPhrase(e.What, v, n)
}

func waitPhrase(e *correlate.Evidence) string {
	call := e.Name
	if call == "" {
		call = "no system call"
	}
	times := ""
	if e.Count > 1 {
		times = fmt.Sprintf(" x%d", e.Count)
	}
	return fmt.Sprintf("%s%s%s, %s", call, on(e), times, Duration(e.NS))
}

// on names what a call waited for.
func on(e *correlate.Evidence) string {
	if e.Object == "" {
		return ""
	}
	return " on " + Printable(e.Object)
}

// faultPhrase: a mapped file goes by its last name, which is what tells.
func faultPhrase(e *correlate.Evidence) string {
	where := ""
	if e.Object != "" {
		where = " in " + Printable(path.Base(e.Object))
		if e.Context != "" {
			where = fmt.Sprintf(" (%s of %s)", e.Context, Printable(path.Base(e.Object)))
		}
	}
	return fmt.Sprintf("%d x %s%s, %s", e.Count, e.Name, where, Duration(e.NS))
}

func throttledPhrase(e *correlate.Evidence) string {
	text := "kept from running for " + Duration(e.NS)
	if e.Value == nil || *e.Value == 0 {
		return text
	}
	unit := "its cgroup"
	if e.Unit != "" {
		unit = Printable(e.Unit)
	}
	return fmt.Sprintf("%s was out of quota: throttled for %s meanwhile (normal %s)", unit, Duration(int64(*e.Value)), Duration(int64(*e.Normal)))
}

// whoseUnit is who with the unit or container that it belongs to.
func whoseUnit(e *correlate.Evidence) string {
	if e.Unit == "" {
		return who(e)
	}
	return fmt.Sprintf("%s (%s)", who(e), Printable(e.Unit))
}

func who(e *correlate.Evidence) string {
	name := Printable(e.Name)
	if e.Tid == 0 {
		if name == "" {
			return "an unknown task"
		}
		return name
	}
	if e.Pid != 0 && e.Pid != e.Tid {
		return fmt.Sprintf("%s[%d/%d]", name, e.Pid, e.Tid)
	}
	return fmt.Sprintf("%s[%d]", name, e.Tid)
}

// Duration formats ns with about three digits and a unit.
func Duration(ns int64) string {
	d := time.Duration(ns)
	abs := d.Abs()
	switch {
	case abs < 10*time.Microsecond:
		return fmt.Sprintf("%.2f us", float64(ns)/1e3)
	case abs < time.Millisecond:
		return fmt.Sprintf("%.0f us", float64(ns)/1e3)
	case abs < 100*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(ns)/1e6)
	case abs < 10*time.Second:
		return fmt.Sprintf("%.0f ms", float64(ns)/1e6)
	}
	return fmt.Sprintf("%.1f s", float64(ns)/1e9)
}

// Printable keeps what a terminal may show: names come from processes that may
// be hostile.
func Printable(s string) string {
	q := fmt.Sprintf("%+q", s)
	q = q[1 : len(q)-1]
	return strings.ReplaceAll(q, `\"`, `"`)
}
