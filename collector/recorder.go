package collector

import (
	"os"

	"github.com/cilium/ebpf/ringbuf"

	"github.com/tailtrace/tailtrace/bpf"
	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// recorder moves what the kernel side produces into the file.
type recorder struct {
	k      *kernel
	w      *eventfile.Writer
	merge  *merger
	losses *lossReader
	record ringbuf.Record

	tasks   *taskCache
	procs   *procNamer
	owners  *ownerResolver
	spaces  *mapTracker
	fds     *fdNamer
	targets *targetSet
	stacks  *stackNamer

	events, windows, lost uint64
}

func newRecorder(c *Config, k *kernel, w *eventfile.Writer) *recorder {
	n := len(k.rings.readers)
	tasks := newTaskCache()
	return &recorder{
		k: k,
		w: w,
		// one more queue than rings: of the snapshot
		merge:   newMerger(n + 1),
		losses:  newLossReader(k.states, n),
		tasks:   tasks,
		procs:   newProcNamer(int32(os.Getpid()), c.NoCmdlines),
		owners:  newOwnerResolver(tasks),
		spaces:  newMapTracker(),
		fds:     newFdNamer(),
		targets: newTargetSet(),
		stacks:  newStackNamer(k.maps.Maps[bpf.KernelMapStacksSeen]),
	}
}

// start makes the processes targets, with the children that they have already
// if those are to be followed, and takes the snapshot.
func (r *recorder) start(pids []int32, follow bool) error {
	if err := r.losses.begin(); err != nil {
		return err
	}
	var all []int32
	for next := pids; len(next) > 0; { // until nobody had a child before it was traced itself
		if err := r.trace(next); err != nil {
			return err
		}
		all = append(all, next...)
		if !follow {
			break
		}
		next = without(resolver{"/proc"}.descendants(all), all)
	}
	snapshot := len(r.k.rings.readers)
	return r.k.snapshot(all, func(raw []byte) error { return r.queue(snapshot, raw) })
}

func (r *recorder) trace(pids []int32) error {
	for _, pid := range pids {
		if err := r.k.trace(pid); err != nil {
			return err
		}
		r.spaces.add(pid)
		r.targets.live[pid] = true
	}
	return nil
}

func (r *recorder) queue(ring int, raw []byte) error {
	h, err := view[bpf.KernelEventHead](raw)
	if err != nil {
		return err
	}
	if bpf.KernelEventKind(h.Kind) == bpf.KernelEventKindEV_STACK {
		return r.stacks.see(raw)
	}
	r.merge.add(ring, eventfile.Time(h.Time), raw)
	return nil
}

// drain fetches what is in the rings and writes what is due.
func (r *recorder) drain() error {
	r.merge.begin(now())
	if err := r.fetch(); err != nil {
		return err
	}
	return r.write()
}

// finish writes all that is left. The programs must be detached; faults is what
// was counted up to then.
func (r *recorder) finish(faults *faultTotals) error {
	if err := r.fetch(); err != nil {
		return err
	}
	r.merge.finish()
	if err := r.write(); err != nil {
		return err
	}
	r.spaces.hurry()
	r.fds.askAll()
	if err := r.lookUp(maxProcWaiting, maxFdAsked); err != nil {
		return err
	}
	if err := r.lastStacks(); err != nil {
		return err
	}
	if err := r.losses.end(faults, r.loss); err != nil {
		return err
	}
	losses, err := recursionLosses(r.k.progs)
	if err != nil {
		return err
	}
	for _, l := range losses {
		if err := r.loss(&l); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) lastStacks() error {
	unnamed, err := r.stacks.finish(r.w.Stack)
	if err != nil || unnamed == 0 {
		return err
	}
	return r.loss(&eventfile.Loss{Source: eventfile.LossStack, CPU: -1, Count: uint64(unnamed), What: "no time to name them"})
}

func (r *recorder) fetch() error {
	var bad error
	for cpu := range r.k.rings.readers {
		err := r.k.rings.drain(cpu, &r.record, func(raw []byte) {
			if err := r.queue(cpu, raw); err != nil {
				bad = err
			}
		})
		if err != nil {
			return err
		}
	}
	return bad
}

func (r *recorder) write() error {
	if err := r.merge.release(r.event); err != nil {
		return err
	}
	if err := r.losses.read(r.loss); err != nil {
		return err
	}
	if late := r.merge.takeLate(); late.count > 0 {
		err := r.loss(&eventfile.Loss{
			Source: eventfile.LossLate,
			CPU:    -1,
			Count:  late.count,
			First:  late.first,
			Last:   late.last,
			What:   "out of order in the file",
		})
		if err != nil {
			return err
		}
	}
	if err := r.stacks.collect(r.w.Stack); err != nil {
		return err
	}
	return r.lookUp(procsPerRound, fdsPerRound)
}

// event writes one event, after the identities that it needs.
func (r *recorder) event(raw []byte) error {
	d, err := decode(raw)
	if err != nil {
		return err
	}
	for _, id := range d.tasks {
		if id == nil {
			continue
		}
		task, isNew := r.tasks.see(id, d.event.Time)
		if isNew {
			if err := r.w.Event(&task); err != nil {
				return err
			}
		}
		r.procs.see(id, isNew)
	}
	var tgid int32 // 0 where the event names no task
	if id := d.tasks[0]; id != nil {
		tgid = int32(id.Tgid)
	}
	if d.event.Owner != 0 {
		d.event.Owner = r.owners.resolve(tgid, d.event.Owner, d.event.Time)
	}
	r.follow(&d.event, tgid)
	r.events++
	return r.w.Event(&d.event)
}

func (r *recorder) loss(l *eventfile.Loss) error {
	r.lost += l.Count
	return r.w.Loss(l)
}

func (r *recorder) window(w *eventfile.Window) error {
	r.windows++
	return r.w.Window(w)
}

func (r *recorder) note(text string) error {
	return r.w.Note(&eventfile.Note{Time: now(), Text: text})
}

// produced is how many events the programs tried to write.
func (r *recorder) produced() (uint64, error) {
	var sum uint64
	for cpu := range r.k.rings.readers {
		state, err := r.k.states.read(cpu)
		if err != nil {
			return 0, err
		}
		sum += state.Tried
	}
	return sum, nil
}
