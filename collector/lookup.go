package collector

import "github.com/tailtrace/tailtrace/collector/eventfile"

// follow tells those that look things up in /proc of an event of process tgid.
func (r *recorder) follow(e *eventfile.Event, tgid int32) {
	switch e.Kind {
	case eventfile.KindSwitch:
		r.fds.see(e, tgid)
		if e.FaultStart != 0 {
			r.spaces.fault(tgid, e.Addr)
		}
	case eventfile.KindFault:
		r.spaces.fault(tgid, e.Addr)
	case eventfile.KindExec:
		r.forget(tgid)
	}
	if r.targets.see(e, tgid) {
		r.forget(tgid)
	}
}

func (r *recorder) forget(pid int32) {
	r.owners.forget(pid)
	r.spaces.forget(pid)
	r.fds.forget(pid)
}

// lookUp is one round of asking /proc, for at most so many processes and
// descriptors.
func (r *recorder) lookUp(procs, fds int) error {
	if err := r.procs.round(procs, r.w.Proc); err != nil {
		return err
	}
	t := now()
	if err := r.spaces.round(t, r.w.Mapping); err != nil {
		return err
	}
	return r.fds.round(fds, t, r.w.Fd)
}
