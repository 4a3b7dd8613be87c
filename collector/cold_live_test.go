package collector

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

func TestSwitchBackSaysHowLongOthersHadTheCPU(t *testing.T) {
	testenv.Root(t)
	busy := startChild(t, "busy")
	hog := startChild(t, "hog")
	busy.tell()
	tid := int32(busy.hearNumbers()[0])
	var said string
	rec := recordLive(t, Config{Pids: []int{busy.pid}}, func() {
		hog.tell()
		said = hog.hear()[0]
	})
	testenv.Need(t, said == "done", "real-time scheduling")
	long := 0
	var out *eventfile.Event // where the thread lost the CPU
	var foreign int64
	var last eventfile.Event
	ours := map[int32]bool{}
	for _, e := range rec.events {
		if e.Kind == eventfile.KindTask && e.Flags&eventfile.FlagTarget != 0 {
			ours[e.Tid] = true
		}
		if e.Kind != eventfile.KindSwitch || e.CPU != 0 {
			continue
		}
		if ours[e.Tid] {
			foreign = 0
		} else if e.Tid != 0 {
			foreign += int64(e.Time - last.Time)
		}
		switch {
		case e.Tid == tid && e.State == eventfile.StateRunning:
			out = &e
		case e.Peer == tid && out != nil:
			if e.Dur != foreign {
				t.Errorf("the switch back says %d ns, the switches in between %d", e.Dur, foreign)
			}
			out = nil
		}
		if ours[e.Peer] && e.Dur > 5_000_000 {
			long++
		}
		last = e
	}
	if long < 3 {
		t.Errorf("the hog's 10 ms are seen %d times, want 5 or about", long)
	}
}
