// Package ringfollow finds the request rings of running processes and follows
// them: it hands out each window once, with the recorder's thread ids in it.
//
// A ring is found by its name among the mappings of a process, so that
// containers, other mount namespaces and memfds need nothing special. Whoever
// owns it has fewer rights than the recorder, and may put anything in its
// place: work is bounded, a ring that lies is noted once and left alone.
package ringfollow

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/ring"
)

const (
	scanEvery     = 500 * time.Millisecond
	fullScanEvery = 5 * time.Second
	maxRefused    = 1024
)

// Options say what to follow.
type Options struct {
	Path  string         // the only ring to follow; "" = those of the processes
	Since eventfile.Time // windows that ended before are left out; 0 = from New on
	Info  func(string)   // told of each ring that is followed; may be nil
}

// Follower follows the rings of a set of processes. It is not safe for
// concurrent use.
type Follower struct {
	pids    func() []int
	opt     Options
	rings   []*followed
	procs   map[int]process
	refused map[fileID]bool
	noted   map[string]bool // notes about opening that must not be repeated
	scanned time.Time
}

// process is what the last full scan of a process saw.
type process struct {
	pages uint64
	full  time.Time
}

// sink is where a Poll's results go.
type sink struct {
	emit func(*eventfile.Window)
	lost func(eventfile.Loss)
	note func(string)
}

// New follows the rings of the processes that pids returns at the time.
func New(pids func() []int, opt Options) *Follower {
	if opt.Since == 0 {
		opt.Since = eventfile.Time(ring.Now())
	}
	return &Follower{
		pids:    pids,
		opt:     opt,
		procs:   make(map[int]process),
		refused: make(map[fileID]bool),
		noted:   make(map[string]bool),
	}
}

// Poll hands out what has been published since the last Poll, at most a bounded
// number of windows of each ring. It looks for new rings twice a second. A
// window given to emit is only good until emit returns.
func (f *Follower) Poll(emit func(*eventfile.Window), lost func(eventfile.Loss), note func(string)) {
	out := sink{emit, lost, note}
	if now := time.Now(); now.Sub(f.scanned) >= scanEvery {
		f.scanned = now
		f.scan(out)
	}
	f.rings = slices.DeleteFunc(f.rings, func(r *followed) bool {
		gone := r.gone // before reading, so that what was published last is read
		if r.poll(out) && !gone {
			return false
		}
		if r.reader.Err() != nil {
			f.refuse(r.id)
		}
		r.finish(out)
		return true
	})
}

// Close hands out all that is left, also of processes that have ended, and
// closes the rings.
func (f *Follower) Close(emit func(*eventfile.Window), lost func(eventfile.Loss), note func(string)) {
	out := sink{emit, lost, note}
	f.scan(out)
	for _, r := range f.rings {
		r.finish(out)
	}
	f.rings = nil
}

func (f *Follower) scan(out sink) {
	if f.opt.Path != "" {
		f.scanPath(out)
		return
	}
	pids := f.pids()
	for _, r := range f.rings {
		r.gone = r.gone || !slices.Contains(pids, r.threads.pid)
	}
	for pid := range f.procs {
		if !slices.Contains(pids, pid) {
			delete(f.procs, pid)
		}
	}
	for _, pid := range pids {
		f.scanProcess(pid, out)
	}
}

// scanProcess looks for the rings of one process where there is reason to.
func (f *Follower) scanProcess(pid int, out sink) {
	pages, err := vmPages(pid)
	if err != nil || pages == 0 { // ended, or a zombie
		f.retain(pid, nil)
		return
	}
	if !f.due(pid, pages) {
		return
	}
	mappings, err := candidates(pid)
	if err != nil {
		if !vanished(err) {
			f.noteOnce(out, fmt.Sprintf("ring of pid %d: %v", pid, err))
		}
		return
	}
	f.procs[pid] = process{pages, time.Now()}
	f.retain(pid, mappings)
	for _, m := range mappings {
		if !f.follows(m.file) && !f.refused[m.file] {
			f.attach(pid, m, out)
		}
	}
}

// retain marks those rings of a process as gone that are not among mappings.
func (f *Follower) retain(pid int, mappings []mapping) {
	for _, r := range f.rings {
		if r.threads.pid == pid && !hasFile(mappings, r.id) {
			r.gone = true
		}
	}
}

// due is whether a process with an address space of that size may have another
// ring than at the last full scan. Reading all of its mappings takes a
// millisecond where there are a thousand, on a CPU that it may want.
func (f *Follower) due(pid int, pages uint64) bool {
	p := f.procs[pid]
	if time.Since(p.full) >= fullScanEvery {
		return true
	}
	has := false
	for _, r := range f.rings {
		if r.threads.pid != pid {
			continue
		}
		if r.unlinked() { // as by what takes its place
			return true
		}
		has = true
	}
	return !has && pages != p.pages
}

func (f *Follower) follows(id fileID) bool {
	return slices.ContainsFunc(f.rings, func(r *followed) bool { return r.id == id })
}

// attach begins to follow a mapped ring. One that bears another pid was
// inherited over a fork: it is followed, if at all, where it belongs.
func (f *Follower) attach(pid int, m mapping, out sink) {
	inner, nested, err := innerPid(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || inner != m.pid {
		return
	}
	file, err := openMapped(pid, m)
	if vanished(err) {
		delete(f.procs, pid) // look again at the next scan
		return
	}
	var r *followed
	if err == nil {
		r, err = follow(file, m.file, f.opt.Since, threads{pid: pid, nested: nested}, uint32(inner))
	}
	if err != nil {
		f.refuse(m.file)
		out.note(fmt.Sprintf("ring of pid %d: not followed: open %q: %v%s", pid, m.path, err, advice(err)))
		return
	}
	f.begin(r, out)
}

// advice says which right was missing.
func advice(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return " (the ring of another user needs CAP_DAC_READ_SEARCH)"
	}
	return ""
}

func (f *Follower) begin(r *followed, out sink) {
	f.rings = append(f.rings, r)
	if f.opt.Info != nil {
		f.opt.Info(fmt.Sprintf("%s, %d slots, attached", r.label, r.reader.Header().Slots))
	}
	r.reportOverwritten(out)
}

func (f *Follower) refuse(id fileID) {
	if len(f.refused) >= maxRefused {
		clear(f.refused)
	}
	f.refused[id] = true
}

func (f *Follower) noteOnce(out sink, text string) {
	if !f.noted[text] {
		f.noted[text] = true
		out.note(text)
	}
}

// vanished is whether a process ended, or let go of a mapping, in mid-look.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
