package correlate

import (
	"testing"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

func TestMissedFaultsAreSaidOfTheRequestsMeanwhile(t *testing.T) {
	rec := &Recording{Losses: []eventfile.Loss{
		{Source: eventfile.LossSkipped, CPU: 1, Count: 2, First: 100, Last: 200},
		{Source: eventfile.LossSkipped, CPU: 0, Count: 3, First: 190, Last: 220},
		{Source: eventfile.LossRing, CPU: 0, Count: 9, First: 100, Last: 300},
	}}
	for name, tt := range map[string]struct {
		begin, end Time
		want       int64
	}{
		"before":         {50, 100, 0},
		"in the first":   {120, 180, 2},
		"over both":      {50, 300, 5},
		"after":          {220, 300, 0},
		"in the overlap": {195, 198, 5},
	} {
		t.Run(name, func(t *testing.T) {
			var got int64
			for _, e := range rec.missedEvidence(&Request{Begin: tt.begin, End: tt.end}) {
				got += e.Count
			}
			if got != tt.want {
				t.Errorf("%d faults, want %d", got, tt.want)
			}
		})
	}
}
