package ringfollow

import (
	"errors"
	"fmt"
	"os"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/ring"
)

// anyPid accepts a ring whatever pid it says it is of.
const anyPid = 0

// maxDrain bounds the polls in which the end of a ring is read. The largest
// ring takes 16.
const maxDrain = 20

var errPid = errors.New("it says it belongs to another process")

// followed is a ring under observation. Its file stays open after the process
// has ended.
type followed struct {
	file    *os.File
	id      fileID
	label   string // "ring of scorer, pid 12"
	reader  *ring.Reader
	threads threads
	since   eventfile.Time
	gone    bool // nobody writes it any more

	names  [ring.MaxNames + 1]string
	slot   ring.Slot
	window eventfile.Window

	polled       eventfile.Time // when it was last read
	lost         uint64         // reported
	invalidNoted bool
}

// follow takes over file and begins to follow the ring in it.
func follow(file *os.File, id fileID, since eventfile.Time, t threads, pid uint32) (*followed, error) {
	reader, err := ring.NewReader(file)
	if err == nil && pid != anyPid && reader.Header().Pid != pid {
		err = fmt.Errorf("%w: %d, not %d", errPid, reader.Header().Pid, pid)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	r := &followed{file: file, id: id, reader: reader, since: since, polled: eventfile.Time(ring.Now())}
	r.setOwner(t)
	return r, nil
}

func (r *followed) setOwner(t threads) {
	r.threads = t
	r.label = fmt.Sprintf("ring of %s, pid %d", printable(r.reader.Header().Service), t.pid)
}

// unlinked is whether the ring's file has no name any more.
func (r *followed) unlinked() bool {
	_, st, err := identify(int(r.file.Fd()))
	return err != nil || st.Nlink == 0
}

// poll hands out what is new and returns whether there may be more later.
func (r *followed) poll(out sink) bool {
	for r.reader.Next(&r.slot) {
		if eventfile.Time(r.slot.End) >= r.since {
			out.emit(r.convert(&r.slot))
		}
	}
	now := eventfile.Time(ring.Now())
	r.reportLost(out, r.reader.Lost(), now)
	r.polled = now
	if n, why := r.reader.Invalid(); n > 0 && !r.invalidNoted {
		r.invalidNoted = true
		out.note(fmt.Sprintf("%s: window ignored: %v", r.label, why))
	}
	return r.reader.Err() == nil
}

// reportLost reports windows as lost up to a total.
func (r *followed) reportLost(out sink, total uint64, now eventfile.Time) {
	if total == r.lost {
		return
	}
	out.lost(eventfile.Loss{
		Source: eventfile.LossWindow,
		CPU:    -1,
		Count:  total - r.lost,
		First:  r.polled,
		Last:   now,
		What:   r.label,
	})
	r.lost = total
}

// reportOverwritten reports what a ring that was made after the recording
// began had overwritten before it was found.
func (r *followed) reportOverwritten(out sink) {
	created := eventfile.Time(r.reader.Header().Created)
	n := r.reader.Overwritten()
	if n == 0 || created < r.since {
		return
	}
	out.lost(eventfile.Loss{
		Source: eventfile.LossWindow,
		CPU:    -1,
		Count:  n,
		First:  min(created, r.polled),
		Last:   r.polled,
		What:   r.label,
	})
}

// finish reads the ring to its end and closes it.
func (r *followed) finish(out sink) {
	defer r.file.Close()
	for range maxDrain {
		if !r.poll(out) || r.reader.Behind() == 0 {
			break
		}
	}
	r.reportLost(out, r.lost+uint64(r.reader.Waiting()), eventfile.Time(ring.Now()))
	if err := r.reader.Err(); err != nil {
		out.note(fmt.Sprintf("%s: no longer followed: %v", r.label, err))
	}
	if n, _ := r.reader.Invalid(); n > 0 {
		out.note(fmt.Sprintf("%s: %d windows ignored because they made no sense", r.label, n))
	}
	if n := r.threads.gone; n > 0 {
		out.note(fmt.Sprintf("%s: %d thread ids of threads that had ended", r.label, n))
	}
}
