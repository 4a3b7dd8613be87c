package correlate

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// bruteForce accounts for a request one unit of time after the other, from the threads'
// states and the rules alone.
func bruteForce(reqs []*Request, index int, states map[int32]map[Time]part.Part, unit Time) (out part.Times) {
	r := reqs[index]
	for at := r.Begin; at < r.End; at += unit {
		mode, tid := where(r, at)
		p, ok := states[tid][at]
		switch {
		case !ok || tid == 0:
			out[part.Unknown] += int64(unit)
		case isBehind(reqs, index, at) && comesToRest(reqs, index, at, states, unit):
			out[requestPart(mode, part.Net)] += int64(unit)
		case isBehind(reqs, index, at):
			out[part.OtherRequest] += int64(unit)
		default:
			out[requestPart(mode, p)] += int64(unit)
		}
	}
	return out
}

// isBehind reports whether a request waits while its thread is in another one.
func isBehind(reqs []*Request, index int, at Time) bool {
	mode, tid := where(reqs[index], at)
	if mode != modeBefore && mode != modeSuspended || tid == 0 {
		return false
	}
	for j, o := range reqs {
		if m, otid := where(o, at); j != index && m == modeActive && otid == tid && at >= o.Begin && at < o.End {
			return true
		}
	}
	return false
}

// comesToRest reports whether the thread that a request waits for goes on to
// block in a poll before it is in that request, and in no other one.
func comesToRest(reqs []*Request, index int, from Time, states map[int32]map[Time]part.Part, unit Time) bool {
	r := reqs[index]
	mode, tid := where(r, from)
	for at := from; at < r.End; at += unit {
		switch m, now := where(r, at); {
		case now != tid:
		case m != mode:
			return false
		case states[tid][at] == part.Net && !isBehind(reqs, index, at):
			return true
		}
	}
	return false
}

// where says in which mode and on which thread a request is at one moment.
func where(r *Request, at Time) (mode, int32) {
	w := r.Window
	switch {
	case at < w.Begin:
		return modeBefore, w.Tid
	case at >= w.End:
		return modeAfter, threadAt(w, w.End)
	}
	m := modeActive
	for _, p := range w.Points {
		if w.Begin.Add(p.Offset) > at {
			break
		}
		switch p.Type {
		case eventfile.PointSuspend:
			m = modeSuspended
		case eventfile.PointResume:
			m = modeActive
		}
	}
	return m, threadAt(w, at)
}

func threadAt(w *eventfile.Window, at Time) int32 {
	tid := w.Tid
	for _, p := range w.Points {
		if w.Begin.Add(p.Offset) > at {
			break
		}
		if p.Type == eventfile.PointThread && p.Tid != 0 {
			tid = p.Tid
		}
	}
	if at >= w.End && w.EndTid != 0 && tid != w.EndTid {
		tid = w.EndTid
	}
	return tid
}
