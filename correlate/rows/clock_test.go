package rows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// series writes n rows, one each gap, that took latency; both are in file
// units printed with the given number of decimals.
func series(n int, start, gap, latency float64, decimals int) string {
	var text strings.Builder
	for i := range n {
		send := start + float64(i)*gap
		fmt.Fprintf(&text, `{"id": %d, "send_ns": %.*f, "recv_ns": %.*f}`+"\n", i+1, decimals, send, decimals, send+latency)
	}
	return text.String()
}

func TestClockIsToldByMagnitude(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		want    Clock
		latency int64
		warns   string
	}{
		"uptime ns":              {series(50, 5e12, 1e6, 900e3, 0), Clock{ClockMonotonic, 1}, 900e3, ""},
		"uptime of 20 days, ns":  {series(50, 1728e12, 1e6, 900e3, 0), Clock{ClockMonotonic, 1}, 900e3, ""},
		"uptime of 28 min, ns":   {series(50, 1.7e12, 1e6, 900e3, 0), Clock{ClockMonotonic, 1}, 900e3, ""},
		"uptime of 1.7 s, ns":    {series(50, 1.7e9, 1e6, 900e3, 0), Clock{ClockMonotonic, 1}, 900e3, ""},
		"uptime of 28 min, 5 us": {series(50, 1.7e12, 1e8, 5e3, 0), Clock{ClockMonotonic, 1}, 5e3, ""},
		"uptime of 2 s, tiny":    {series(50, 1.7e9, 1e6, 5, 0), Clock{ClockMonotonic, 1}, 5, ""},
		"small numbers":          {series(50, 1, 10, 1, 0), Clock{ClockMonotonic, 1}, 1, ""},
		"uptime, float ns":       {series(50, 5e12, 1e6, 900e3, 3), Clock{ClockMonotonic, 1}, 900e3, ""},
		"uptime s":               {series(50, 123456, 1e-3, 900e-6, 9), Clock{ClockMonotonic, 1e9}, 900e3, "seconds of uptime"},
		"since start s":          {series(50, 0, 1e-3, 900e-6, 9), Clock{ClockSinceStart, 1e9}, 900e3, "seconds since some start"},
		"epoch ns":               {series(50, 1.79e18, 1<<20, 1<<20, 0), Clock{ClockEpoch, 1}, 1 << 20, "ns since 1970"},
		"epoch us":               {series(50, 1.79e15, 1000, 900, 0), Clock{ClockEpoch, 1e3}, 900e3, "us since 1970"},
		"epoch us, slow":         {series(50, 1.79e15, 1e5, 50e3, 0), Clock{ClockEpoch, 1e3}, 50e6, "us since 1970"},
		"epoch ms, slow":         {series(50, 1.79e12, 1e4, 9000, 0), Clock{ClockEpoch, 1e6}, 9e9, "ms since 1970"},
		"uptime of 28 min, fast": {series(50, 1.7e12, 1e5, 30e3, 0), Clock{ClockMonotonic, 1}, 30e3, ""},
		"epoch ms":               {series(50, 1.79e12, 1, 1, 0), Clock{ClockEpoch, 1e6}, 1e6, "ms since 1970"},
		"epoch ms with decimals": {series(50, 1.79e12, 1, 0.5, 1), Clock{ClockEpoch, 1e6}, 5e5, "ms since 1970"},
		"epoch s":                {series(50, 1.79e9, 0.5, 0.25, 6), Clock{ClockEpoch, 1e9}, 250e6, "s since 1970"},
		"epoch whole s":          {series(50, 1.79e9, 1, 1, 0), Clock{ClockEpoch, 1e9}, 1e9, "s since 1970"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustRead(t, tc.text)
			if s.Clock != tc.want {
				t.Errorf("clock %v, want %v", s.Clock, tc.want)
			}
			if got := s.Rows[7].Latency(); got < tc.latency-1 || got > tc.latency+1 {
				t.Errorf("latency %d, want %d", got, tc.latency)
			}
			switch {
			case tc.warns == "" && len(s.Warnings) > 0:
				t.Errorf("warnings %q, want none", s.Warnings)
			case tc.warns != "" && (len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], tc.warns)):
				t.Errorf("warnings %q, want %q", s.Warnings, tc.warns)
			}
		})
	}
}

func TestDecimalsOfEpochSecondsAreExact(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": 1790000000.123456789, "recv_ns": 1790000000.123457790}`)
	if got := s.Rows[0].Send; got != 1790000000123456789 {
		t.Errorf("send %d", got)
	}
	if got := s.Rows[0].Latency(); got != 1001 {
		t.Errorf("latency %d, want 1001", got)
	}
}

func TestTimesAsStringsAndExponents(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": "9007199254740993", "recv_ns": 9.007199254750e15}`)
	if s.Rows[0].Send != 9007199254740993 || s.Rows[0].Recv != 9007199254750000 {
		t.Errorf("%+v", s.Rows[0])
	}
}

func TestStampsOutOfRangeAreQuarantined(t *testing.T) {
	s := mustRead(t, series(50, 1.79e9, 0.5, 0.25, 6)+
		`{"id": 91, "send_ns": 9223372036854775807, "recv_ns": 9223372036854775807}
{"id": 92, "send_ns": 1e300, "recv_ns": Infinity}
{"id": 93, "send_ns": -9223372036854775808, "recv_ns": 9223372036854775807}
`)
	var lines []int
	for _, bad := range s.Quarantined {
		lines = append(lines, bad.Line)
	}
	if diff := cmp.Diff([]int{51, 52, 53}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestClockStepIsQuarantinedAndTheRestKept(t *testing.T) {
	const step = 25_000 * int64(time.Second)
	for _, by := range []int64{-step, step} {
		var text strings.Builder
		for i := range int64(100) {
			send, recv := int64(1.79e18)+i*1e6, int64(1.79e18)+i*1e6+9e5
			if i > 50 {
				send += by
			}
			if i >= 50 {
				recv += by
			}
			fmt.Fprintf(&text, `{"id": %d, "send_ns": %d, "recv_ns": %d}`+"\n", i, send, recv)
		}
		s := mustRead(t, text.String())
		if len(s.Quarantined) != 1 || s.Quarantined[0].Line != 51 || len(s.Rows) != 99 {
			t.Fatalf("step of %d: quarantined %v of %d rows, want line 51 only", by, s.Quarantined, len(s.Rows))
		}
		for i := range s.Rows {
			if s.Rows[i].Latency() != 9e5 || i > 0 && s.Rows[i].Line <= s.Rows[i-1].Line {
				t.Fatalf("step of %d: row %d is %+v", by, i, s.Rows[i])
			}
		}
		if by < 0 {
			elapsed := s.Elapsed()
			if diff := cmp.Diff([]Step{{50, -step + 2e6}}, s.Steps); diff != "" {
				t.Error(diff)
			}
			if got := elapsed[98] - elapsed[0]; got < 97e6 || got > 99e6 {
				t.Errorf("elapsed %d over the step, want about 98 ms", got)
			}
		}
	}
}

func TestRowsOutOfOrderAreSortedStably(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": 30, "recv_ns": 31}
{"id": 2, "send_ns": 10, "recv_ns": 12}
{"id": 3, "send_ns": 20, "recv_ns": 23}
{"id": 4, "send_ns": 10, "recv_ns": 14}
`)
	var lines []int
	for _, r := range s.Rows {
		lines = append(lines, r.Line)
	}
	if diff := cmp.Diff([]int{2, 4, 3, 1}, lines); diff != "" {
		t.Error(diff)
	}
	if want := []string{"2 rows were not in the order of their send times and were sorted"}; !cmp.Equal(want, s.Warnings) {
		t.Errorf("warnings %q, want %q", s.Warnings, want)
	}
}

// Workers that append their rows one after the other jump back by the whole
// run; that is disorder, not a step of the clock.
func TestOverlappingWorkersAreNoClockStep(t *testing.T) {
	hour := series(4000, 5e12, 1e9, 1e6, 0)
	s := mustRead(t, hour+hour)
	if len(s.Steps) != 0 {
		t.Errorf("steps %v, want none", s.Steps)
	}
	for i := 1; i < len(s.Rows); i++ {
		if s.Rows[i].Send < s.Rows[i-1].Send {
			t.Fatalf("row %d is not in order", i)
		}
	}
}

func TestInterleavedRunsAreGrouped(t *testing.T) {
	s := mustRead(t, `{"id": 1, "send_ns": 10, "recv_ns": 11, "run": "b", "k": 1}
{"id": 2, "send_ns": 20, "recv_ns": 22, "run": "a", "k": 2}
{"id": 3, "send_ns": 30, "recv_ns": 33, "run": "b", "k": 3}
`)
	if diff := cmp.Diff([]string{"b", "a"}, s.Runs()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"k", "1", "3", "2"}}, columns(s)); diff != "" {
		t.Error(diff)
	}
	if len(s.Warnings) != 0 {
		t.Errorf("warnings %q, want none", s.Warnings)
	}
}
