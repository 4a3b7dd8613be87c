package collector

import (
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/collector/ringfollow"
)

// windowSource is where request windows come from.
type windowSource interface {
	// Poll passes on what has been published since the last call.
	Poll(emit func(*eventfile.Window), lost func(eventfile.Loss), note func(string))
	// Close passes on the rest.
	Close(emit func(*eventfile.Window), lost func(eventfile.Loss), note func(string))
}

// noWindows is a recording of kernel events alone.
type noWindows struct{}

func (noWindows) Poll(func(*eventfile.Window), func(eventfile.Loss), func(string)) {}

func (noWindows) Close(func(*eventfile.Window), func(eventfile.Loss), func(string)) {}

// openWindows returns the source that Config.Ring names: whatever rings the
// processes have, none, or the ring at a path.
func openWindows(name string, pids func() []int, since eventfile.Time, info func(string)) windowSource {
	switch name {
	case "none":
		return noWindows{}
	case "", "auto":
		return ringfollow.New(pids, ringfollow.Options{Since: since, Info: info})
	}
	return ringfollow.New(pids, ringfollow.Options{Path: name, Since: since, Info: info})
}
