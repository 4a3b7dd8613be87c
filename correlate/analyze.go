package correlate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
	"github.com/tailtrace/tailtrace/correlate/stats"
	"github.com/tailtrace/tailtrace/correlate/timeline"
)

// Options say what to analyze.
type Options struct {
	Tail float64 // the slowest share of each run, as 0.01
	All  bool    // explain every request, not only the tail
	// Tell picks the requests whose story is kept in full, moment by
	// moment; nil: none. It is given all of them once the tail is known.
	Tell func(all []*Request) func(*Request) bool
	// Profile picks the requests whose stacks are counted; nil: none. It is
	// given all of them once the tail is known.
	Profile func(all []*Request) func(*Request) Side
}

// Result is a recording, explained.
type Result struct {
	*Recording
	Requests []*Request // in the order of the rows, or of time without rows
	Join     Join
	WithRows bool
	// Sets are the rows, on the recording's clock and with the warm-up that
	// the service knows of; without rows, the service's windows as rows. All
	// their rows together are parallel to Requests.
	Sets     []*rows.Set
	others   []*Request // of windows without a row: they only keep threads busy
	Groups   []*Group
	Counts   timeline.Counters
	Shared   int // requests that overlap another one on their thread
	Handed   int // windows that end in another thread than their points say
	Warnings []string
	Profile  *Profile // nil unless Options.Profile asked for it
}

// ErrNoRequests says that there is nothing to explain.
var ErrNoRequests = errors.New("the recording has no request windows")

// Analyze reads the recording twice and accounts for every request.
func Analyze(open Opener, sets []*rows.Set, o Options) (*Result, error) {
	rec, err := Load(open)
	if err != nil {
		return nil, err
	}
	res := &Result{Recording: rec, WithRows: len(sets) > 0}
	if err := res.collect(sets); err != nil {
		return nil, err
	}
	res.markTail(o.Tail)
	res.markRunStart()
	tell := func(*Request) bool { return false }
	if o.Tell != nil {
		tell = o.Tell(res.Requests)
	}
	for _, r := range res.Requests {
		full := tell(r)
		if r.Tail || o.All || full {
			r.story = newStory(full, rec.places)
		}
	}
	rec.requests = append(res.Requests[:len(res.Requests):len(res.Requests)], res.others...)
	var side func(*Request) Side
	if o.Profile != nil {
		side = o.Profile(res.Requests)
	}
	if err := res.account(open, side); err != nil {
		return nil, err
	}
	res.overlapSpans()
	for _, r := range res.Requests {
		r.boxFigures = rec.box(r)
		r.sampleGap = rec.gaps.longest(r.Tid(), r.Begin, r.End)
	}
	gs := groups{}
	for _, g := range res.Groups {
		gs[groupKey{g.Kind, g.Run}] = g
	}
	setBaselines(res.Requests, gs)
	res.warn(sets)
	return res, nil
}

// collect makes the requests, from rows where there are any.
func (res *Result) collect(sets []*rows.Set) error {
	if len(res.Windows) == 0 {
		return ErrNoRequests
	}
	if !res.WithRows {
		res.Requests = windowRequests(res.Recording)
		res.Sets = []*rows.Set{windowSet(res.Requests)}
		return nil
	}
	rows.TellRunsApart(sets)
	res.Sets = sets
	for _, s := range sets {
		if err := alignClock(res.Recording, s); err != nil {
			return err
		}
	}
	var err error
	res.Requests, res.Join, err = joinRows(res.Recording, sets)
	for _, r := range res.Requests {
		r.Row.Warmup = r.Warmup
	}
	for _, i := range res.Join.alone {
		w := &res.Windows[i]
		r := &Request{Begin: w.Begin, End: w.End}
		r.setWindow(w)
		res.others = append(res.others, r)
	}
	return err
}

// markTail marks the slowest share of each run; warm-up does not count. Equal
// latencies are taken in the order of the requests.
func (res *Result) markTail(fraction float64) {
	byRun := map[string][]*Request{}
	for _, r := range res.Requests {
		if !r.Warmup {
			byRun[r.Run] = append(byRun[r.Run], r)
		}
	}
	for _, list := range byRun {
		slices.SortStableFunc(list, func(a, b *Request) int { return cmp.Compare(b.Latency(), a.Latency()) })
		for _, r := range list[:stats.TailCount(len(list), fraction)] {
			r.Tail = true
		}
	}
}

// account streams the kernel events over the requests.
func (res *Result) account(open Opener, side func(*Request) Side) error {
	gs, aside, pieces := groups{}, groups{}, lanes{}
	for i, r := range res.requests {
		if i < len(res.Requests) {
			r.group = gs.of(r)
		} else {
			r.group = aside.of(r)
		}
		r.box.index = res.boxIndex((r.Begin + r.End) / 2)
		r.box.cpu = -1
		if cut(r, int32(i), r.group, pieces) {
			res.Handed++
		}
	}
	res.Shared = pieces.finish()
	for _, g := range gs {
		res.Groups = append(res.Groups, g)
	}
	slices.SortFunc(res.Groups, func(a, b *Group) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Kind, b.Kind)) })
	acc := newAccountant(res.requests, pieces)
	if side != nil {
		acc.profile = newProfiler(res.requests, pieces, side)
		res.Profile = acc.profile.out
	}
	if err := res.stream(open, acc, newStayBook(res.requests, pieces)); err != nil {
		return err
	}
	acc.settle()
	return nil
}

func (res *Result) stream(open Opener, acc *accountant, stays *stayBook) error {
	r, err := open()
	if err != nil {
		return err
	}
	losses := timeline.NewLosses(res.Losses)
	res.gaps = newGapFinder(res.Header, losses)
	b := timeline.New(func(s *timeline.Segment) {
		acc.segment(s)
		res.gaps.segment(s)
	}, losses, res.Syscall)
	b.Throttled, b.Counted = res.throttled, stays.add
	res.tasks, acc.builder = b.Tasks, b
	res.sampled()
	for r.Next() {
		e := r.Event()
		if e == nil {
			continue
		}
		if e.Kind == eventfile.KindSample {
			res.sample(e)
			res.gaps.sample(e)
			acc.sample(e)
			continue
		}
		b.Add(e)
	}
	if err := r.Err(); err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	b.Finish(res.End())
	res.Counts = b.Counts
	return nil
}

// sampled prepares to count the samples of those box intervals that hold a
// request whose story is kept.
func (res *Result) sampled() {
	res.samples = map[int]map[sampleKey]int64{}
	for _, r := range res.Requests {
		if r.story != nil && r.box.index >= 0 {
			res.samples[r.box.index] = map[sampleKey]int64{}
		}
	}
}

func (res *Result) sample(e *eventfile.Event) {
	i := res.boxIndex(e.Time)
	if m := res.samples[i]; m != nil {
		m[sampleKey{i, e.CPU, res.tasks.Now(e.Tid)}]++
	}
}

// overlapSpans books the runtime spans that each request lay under.
func (res *Result) overlapSpans() {
	if len(res.Spans) == 0 {
		return
	}
	longest := Time(0)
	for i := range res.Spans {
		longest = max(longest, res.Spans[i].End-res.Spans[i].Begin)
	}
	for _, r := range res.Requests {
		best := int64(0)
		byName := map[string]int64{}
		i, _ := slices.BinarySearchFunc(res.Spans, r.Begin-longest, func(w eventfile.Window, t Time) int { return cmp.Compare(w.Begin, t) })
		for ; i < len(res.Spans) && res.Spans[i].Begin < r.End; i++ {
			s := &res.Spans[i]
			if s.Tid != 0 && s.Tid != r.Tid() {
				continue
			}
			if ns := int64(min(s.End, r.End) - max(s.Begin, r.Begin)); ns > 0 {
				byName[s.Kind] += ns
				if byName[s.Kind] > best || byName[s.Kind] == best && s.Kind < r.SpanName {
					best, r.SpanName = byName[s.Kind], s.Kind
				}
			}
		}
		r.Spans = best
	}
}

// Explain says what made r slow. It can be asked of every request of the tail,
// and of all with Options.All.
func (res *Result) Explain(r *Request) Explanation { return res.explain(r) }

// Object names the file, socket or mapping that a wait was for, "" where it is
// not known.
func (res *Result) Object(b *timeline.Block) string { return res.places.object(b) }

// Place names what was mapped at an address of a process, "" where that is
// not known.
func (res *Result) Place(pid int32, addr uint64, t Time) string {
	return res.places.at(pid, addr, t).name
}

// Task returns the task behind a reference of the timeline.
func (res *Result) Task(ref timeline.Ref) timeline.Task { return res.tasks.Get(ref) }

// OtherLabel names the request that the thread was in during m, "" for none.
func (res *Result) OtherLabel(m *Moment) string {
	if m.Other < 0 || int(m.Other) >= len(res.requests) {
		return ""
	}
	return res.requests[m.Other].Label()
}

// Moments is the story of a request picked by Options.Tell, in time order.
func (r *Request) Moments() []Moment {
	if r.story == nil {
		return nil
	}
	return r.story.moments
}

// Group returns what r is compared with.
func (r *Request) Group() *Group { return r.group }
