package timeline

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestMissingPageFaultIsNoGap(t *testing.T) {
	for source, want := range map[eventfile.LossSource]bool{eventfile.LossRing: true, eventfile.LossSkipped: false} {
		l := NewLosses([]eventfile.Loss{{Source: source, CPU: 1, Count: 1, First: 10, Last: 20}})
		if _, got := l.Within(1, 0, 100); got != want {
			t.Errorf("loss of source %d: a gap: %t", source, got)
		}
	}
}
