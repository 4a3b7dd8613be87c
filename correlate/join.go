package correlate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// Join counts how rows and windows found each other.
type Join struct {
	Rows         int // rows given, warm-up included
	Joined       int
	RowsAlone    int      // rows without a window, sent while it was recorded
	RowsOutside  int      // rows of before or after the recording, warm-up not counted
	WindowsAlone int      // windows without a row; 0 where no rows were given
	ByTime       int      // joined by containment in time, for want of an id
	Ambiguous    int      // of those, how many had a choice
	OtherTime    int      // rows whose id has a window, but at another time
	Lone         []string // some of the rows without a window, for a person
	LoneWindows  []eventfile.ID

	alone []int32 // windows without a row
}

// maxListed bounds the examples kept in a Join.
const maxListed = 5

// NoMatchError says that not one row belongs to this recording.
type NoMatchError struct {
	Rows, Windows int
	OtherTime     int // rows whose id matches, at another time
}

func (e *NoMatchError) Error() string {
	if e.OtherTime > 0 {
		return fmt.Sprintf("join rows: %d of %d rows have the id of a window, but none at the time of its window", e.OtherTime, e.Rows)
	}
	return fmt.Sprintf("join rows: none of %d rows has the id of one of the %d recorded windows", e.Rows, e.Windows)
}

// joiner holds the windows that are still free.
type joiner struct {
	windows []eventfile.Window
	byID    map[eventfile.ID][]int32
	taken   []bool
	stats   Join
}

// joinRows makes a request of every row, in the order of the rows. Rows with an
// id take the window of that id which overlaps them; rows without one take a
// window that they contain, one to one.
func joinRows(rec *Recording, sets []*rows.Set) ([]*Request, Join, error) {
	j := &joiner{windows: rec.Windows, byID: map[eventfile.ID][]int32{}, taken: make([]bool, len(rec.Windows))}
	for i := range rec.Windows {
		id := rec.Windows[i].ID
		j.byID[id] = append(j.byID[id], int32(i))
	}
	var reqs []*Request
	for _, s := range sets {
		for i := range s.Rows {
			reqs = append(reqs, newRowRequest(&s.Rows[i]))
		}
	}
	j.stats.Rows = len(reqs)
	for _, r := range reqs {
		if r.Row.HasID {
			j.take(r, j.find(r))
		}
	}
	j.byContainment(reqs)
	j.count(rec, reqs)
	if j.stats.Joined == 0 {
		return nil, j.stats, &NoMatchError{Rows: len(reqs), Windows: len(rec.Windows), OtherTime: j.stats.OtherTime}
	}
	return reqs, j.stats, nil
}

func newRowRequest(row *rows.Row) *Request {
	begin := row.Send
	if row.HasIntended {
		begin = row.Intended
	}
	return &Request{
		Row: row, Run: row.Run, Warmup: row.Warmup,
		Begin: Time(begin), End: Time(begin + row.Latency()),
	}
}

// candidates returns the windows of r's id. A service that takes ids from a
// header may have published the text of a number.
func (j *joiner) candidates(r *Request) []int32 {
	list := j.byID[r.Row.ID]
	if len(list) == 0 && r.Row.Label != "" {
		list = j.byID[rows.TextID(r.Row.Label)]
	}
	return list
}

// find returns the free window of r's id that overlaps r most, or -1.
func (j *joiner) find(r *Request) int {
	best, bestLap := -1, int64(-1)
	list := j.candidates(r)
	for _, i := range list {
		w := &j.windows[i]
		lap := int64(min(w.End, Time(r.Row.Recv)) - max(w.Begin, Time(r.Row.Send)))
		if lap > bestLap && !j.taken[i] {
			best, bestLap = int(i), lap
		}
	}
	if best < 0 && len(list) > 0 {
		j.stats.OtherTime++
	}
	return best
}

func (j *joiner) take(r *Request, i int) {
	if i < 0 {
		return
	}
	j.taken[i] = true
	r.setWindow(&j.windows[i])
	j.stats.Joined++
}

func (r *Request) setWindow(w *eventfile.Window) {
	r.Window, r.Kind = w, w.Kind
	r.Warmup = r.Warmup || w.Flags&eventfile.WindowWarmup != 0
}

// byContainment joins rows without an id, the shortest rows first because they
// have the least choice.
func (j *joiner) byContainment(reqs []*Request) {
	var open []*Request
	for _, r := range reqs {
		if !r.Row.HasID {
			open = append(open, r)
		}
	}
	slices.SortStableFunc(open, func(a, b *Request) int {
		return cmp.Compare(a.Row.Recv-a.Row.Send, b.Row.Recv-b.Row.Send)
	})
	for _, r := range open {
		first, choices := j.contained(r)
		if choices > 1 {
			j.stats.Ambiguous++
		}
		if first >= 0 {
			j.stats.ByTime++
			j.take(r, first)
		}
	}
}

func (j *joiner) contained(r *Request) (first, choices int) {
	first = -1
	send, recv := Time(r.Row.Send), Time(r.Row.Recv)
	i, _ := slices.BinarySearchFunc(j.windows, send, func(w eventfile.Window, t Time) int { return cmp.Compare(w.Begin, t) })
	for ; i < len(j.windows) && j.windows[i].Begin <= recv; i++ {
		if j.taken[i] || j.windows[i].End > recv {
			continue
		}
		if first < 0 {
			first = i
		}
		choices++
	}
	return first, choices
}

func (j *joiner) count(rec *Recording, reqs []*Request) {
	for _, r := range reqs {
		if r.Window != nil {
			continue
		}
		if r.End < rec.Header.Started || r.Begin > rec.End() {
			if !r.Warmup {
				j.stats.RowsOutside++
			}
			continue
		}
		j.stats.RowsAlone++
		if len(j.stats.Lone) < maxListed {
			j.stats.Lone = append(j.stats.Lone, rowLabel(r.Row))
		}
	}
	for i, taken := range j.taken {
		if taken {
			continue
		}
		j.stats.WindowsAlone++
		j.stats.alone = append(j.stats.alone, int32(i))
		if len(j.stats.LoneWindows) < maxListed {
			j.stats.LoneWindows = append(j.stats.LoneWindows, j.windows[i].ID)
		}
	}
}

func rowLabel(r *rows.Row) string {
	if r.Label != "" {
		return r.Label
	}
	return fmt.Sprintf("line %d", r.Line)
}

// windowRequests makes a request of every window, for a recording without rows.
func windowRequests(rec *Recording) []*Request {
	reqs := make([]*Request, len(rec.Windows))
	for i := range rec.Windows {
		w := &rec.Windows[i]
		reqs[i] = &Request{Begin: w.Begin, End: w.End}
		reqs[i].setWindow(w)
	}
	return reqs
}

// windowSet makes rows of windows, which say nothing of the client.
func windowSet(reqs []*Request) *rows.Set {
	s := &rows.Set{Name: "windows", Rows: make([]rows.Row, len(reqs))}
	for i, r := range reqs {
		w := r.Window
		row := &s.Rows[i]
		*row = rows.Row{ID: w.ID, HasID: true, Send: int64(w.Begin), Recv: int64(w.End), Warmup: r.Warmup, Line: i + 1}
		row.Timeout = w.Flags&eventfile.WindowTimeout != 0
		if w.Flags&eventfile.WindowError != 0 {
			row.Error = "error"
		}
	}
	return s
}
