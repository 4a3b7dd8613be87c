package ringfollow

import (
	"fmt"
	"math"
	"os"

	"github.com/tailtrace/tailtrace/ring"
)

// Check opens the ring at path and says what is wrong with it, if anything.
func Check(path string) error {
	file, err := openPath(path)
	if err != nil {
		return fmt.Errorf("open ring %s: %w", path, err)
	}
	defer file.Close()
	if _, err := ring.NewReader(file); err != nil {
		return fmt.Errorf("open ring %s: %w", path, err)
	}
	return nil
}

// scanPath follows the ring that the user named, and the one that takes its place.
func (f *Follower) scanPath(out sink) {
	file, err := openPath(f.opt.Path)
	if err != nil {
		f.noteOnce(out, fmt.Sprintf("open ring %s: %v; waiting for it", f.opt.Path, err))
		return
	}
	id, _, err := identify(int(file.Fd()))
	if err != nil || f.follows(id) || f.refused[id] {
		file.Close()
		return
	}
	for _, r := range f.rings {
		r.gone = true
	}
	if err := f.attachPath(file, id, out); err != nil {
		f.refuse(id)
		out.note(fmt.Sprintf("open ring %s: %v", f.opt.Path, err))
	}
}

func (f *Follower) attachPath(file *os.File, id fileID, out sink) error {
	r, err := follow(file, id, f.opt.Since, threads{}, anyPid)
	if err != nil {
		return err
	}
	r.setOwner(f.owner(r.reader.Header().Pid))
	f.begin(r, out)
	return nil
}

// owner finds the process that sees itself as pid among those that are traced.
func (f *Follower) owner(pid uint32) threads {
	for _, p := range f.pids() {
		inner, nested, err := innerPid(fmt.Sprintf("/proc/%d/status", p))
		if err == nil && uint32(inner) == pid {
			return threads{pid: p, nested: nested}
		}
	}
	return threads{pid: int(min(pid, math.MaxInt32))}
}
