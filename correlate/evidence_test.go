package correlate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate/part"
)

// slow runs 100 requests of which one has inside in it, and explains that one.
func (s *scenario) slow(inside func()) (*Request, Explanation) {
	s.t.Helper()
	s.normal(60)
	s.request(normalSteps, inside)
	s.normal(39)
	r, x, _ := s.one()
	return r, x
}

// find returns the first evidence of a kind that ok takes.
func find(x Explanation, what string, ok func(*Evidence) bool) *Evidence {
	i := slices.IndexFunc(x.Evidence, func(e Evidence) bool { return e.What == what && (ok == nil || ok(&e)) })
	if i < 0 {
		return nil
	}
	return &x.Evidence[i]
}

func (s *scenario) faultAt(addr uint64, d int64, flags eventfile.Flags) {
	s.run(d)
	s.add(eventfile.Event{Kind: eventfile.KindFault, Tid: svcTid, Dur: d, Addr: addr, Flags: flags})
}

func (s *scenario) mapping(at Time, start, end uint64, perms, path string) {
	s.meta = append(s.meta, &eventfile.Mapping{Pid: svcTid, Time: at, Start: start, End: end, Perms: perms, Path: path})
}

func TestFaultsAreNamedByWhatIsMappedThere(t *testing.T) {
	s := newScenario(t)
	s.mapping(s.now, 0x1000, 0x9000, "rw-p", "[heap]")
	s.mapping(s.now, 0x10000, 0x20000, "r-xp", "/usr/lib/libmodel.so.1")
	s.mapping(s.now, 0x20000, 0x30000, "rw-p", "/data/cache")
	s.mapping(s.now, 0x7000_0000, 0x8000_0000, "rw-p", "")
	_, x := s.slow(func() {
		for i := range uint64(30) {
			s.faultAt(0x10000+i*0x1000, 100*us, eventfile.FlagUser) // the last 14 in the cache
		}
		s.faultAt(0x1000, 20*us, 0)
		s.faultAt(0x7000_1000, 30*us, 0)
		s.faultAt(0xdead_0000, 40*us, 0)
		s.faultAt(0x11000, 50*us, eventfile.FlagMajor)
	})
	if x.Verdict != "fault" {
		t.Errorf("verdict %q", x.Verdict)
	}
	for _, want := range []Evidence{
		{Name: "page fault", Object: "/usr/lib/libmodel.so.1", Context: firstTouch, Count: 16, NS: 1600 * us},
		{Name: "page fault", Object: "/data/cache", Count: 14, NS: 1400 * us},
		{Name: "page fault", Object: "heap", Count: 1, NS: 20 * us},
		{Name: "page fault", Object: "anonymous memory", Count: 1, NS: 30 * us},
		{Name: "page fault", Count: 1, NS: 40 * us},
		{Name: "major fault", Object: "/usr/lib/libmodel.so.1", Count: 1, NS: 50 * us},
	} {
		want.What, want.Part = EvidenceFaults, "fault"
		if find(x, EvidenceFaults, func(e *Evidence) bool { return cmp.Equal(*e, want) }) == nil {
			t.Errorf("no %+v in %+v", want, x.Evidence)
		}
	}
}

func TestWaitInsideAMajorFaultNamesTheFile(t *testing.T) {
	s := newScenario(t)
	s.mapping(s.now, 0x10000, 0x20000, "r--p", "/data/model.bin")
	_, x := s.slow(func() {
		start := s.now
		s.run(2 * us)
		s.add(eventfile.Event{
			Kind: eventfile.KindSwitch, Tid: svcTid, State: eventfile.StateUninterruptible, FaultStart: start, Addr: 0x12345,
		})
		s.run(5000 * us)
		s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Flags: eventfile.FlagHardirq})
		s.switchIn(0)
		s.run(3 * us)
		s.add(eventfile.Event{Kind: eventfile.KindFault, Tid: svcTid, Dur: int64(s.now - start), Addr: 0x12345, Flags: eventfile.FlagMajor})
	})
	if x.Verdict != "fault-io" {
		t.Errorf("verdict %q", x.Verdict)
	}
	if e := find(x, EvidenceWait, nil); e == nil || e.Object != "/data/model.bin" || e.Count != 1 {
		t.Errorf("the wait is %+v", e)
	}
}

func TestMappingThatReplacesAnotherCountsFromThenOn(t *testing.T) {
	p := newPlaces()
	add := func(at Time, start, end uint64, path string) {
		p.addMapping(&eventfile.Mapping{Pid: 7, Time: at, Start: start, End: end, Path: path})
	}
	add(100, 0x1000, 0x5000, "/old")
	add(200, 0x2000, 0x3000, "/new")
	add(300, 0x9000, 0xa000, "/late")
	add(400, 0x9000, 0xa000, "/later")
	add(300, 0x20000, 0x30000, eventfile.MappingGone)
	add(400, 0x28000, 0x29000, "/then")
	p.index()
	for _, tt := range []struct {
		addr uint64
		at   Time
		want string
	}{
		{0x2000, 150, "/old"}, {0x2000, 250, "/new"}, {0x3000, 250, "/old"}, {0x1fff, 250, "/old"},
		{0x9abc, 50, "/late"}, {0x9abc, 450, "/later"}, {0xa000, 450, ""}, {0x0fff, 450, ""},
		{0x20000, 250, "memory that was unmapped soon after"}, {0x20000, 350, ""}, {0x28000, 350, "/then"}, {0x28000, 450, "/then"},
		{0x4fff, 1, "/old"},
	} {
		if got := p.at(7, tt.addr, tt.at).name; got != tt.want {
			t.Errorf("at %#x at %d: %q, want %q", tt.addr, tt.at, got, tt.want)
		}
	}
	if got := p.at(8, 0x2000, 150).name; got != "" {
		t.Errorf("in another process: %q", got)
	}
}

func TestWaitNamesTheSocketOrFileOfItsDescriptor(t *testing.T) {
	const ms = 1000 * us
	for name, tt := range map[string]struct {
		call int32
		fds  func(at Time) []eventfile.Fd // at: when the wait begins
		want string
	}{
		"looked up a little later": {45, func(at Time) []eventfile.Fd {
			return []eventfile.Fd{{Fd: 9, Time: at + 60*ms, Name: "tcp 127.0.0.1:5432"}, {Fd: 8, Time: at, Name: "/other"}}
		}, "tcp 127.0.0.1:5432"},
		"known for long, and never anything else": {74, func(at Time) []eventfile.Fd {
			return []eventfile.Fd{{Fd: 9, Time: at - 60*ms, Name: "/data/wal"}}
		}, "/data/wal"},
		"the nearest of several, which was later": {45, func(at Time) []eventfile.Fd {
			return []eventfile.Fd{{Fd: 9, Time: at - 60*ms, Name: "tcp 127.0.0.1:1"}, {Fd: 9, Time: at + 25*ms, Name: "tcp 127.0.0.1:2"}}
		}, "tcp 127.0.0.1:2 (as of 20ms later)"},
		"several, and one of them during the wait": {45, func(at Time) []eventfile.Fd {
			return []eventfile.Fd{{Fd: 9, Time: at - 60*ms, Name: "tcp 127.0.0.1:1"}, {Fd: 9, Time: at + 2*ms, Name: "tcp 127.0.0.1:2"}}
		}, "tcp 127.0.0.1:2"},
		"a poll waits for many": {232, func(at Time) []eventfile.Fd {
			return []eventfile.Fd{{Fd: 9, Time: at, Name: "anon_inode:[eventpoll]"}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			_, x := s.slow(func() {
				for _, f := range tt.fds(s.now) {
					f.Pid = svcTid
					s.meta = append(s.meta, &f)
				}
				s.offCPU(tt.call, 5*ms, 0, eventfile.FlagSoftirq)
			})
			if e := find(x, EvidenceWait, func(e *Evidence) bool { return e.NS == 5*ms }); e == nil || e.Object != tt.want {
				t.Errorf("the wait is %+v, want on %q", e, tt.want)
			}
		})
	}
}

// boxes adds samples of the machine each 100 ms for the whole recording so
// far; the one that holds a moment counts ns out of quota.
func (s *scenario) boxes(moment Time, ns int64) {
	for at := s.header.Started; at < s.now+100e6; at += 100e6 {
		b := &eventfile.BoxSample{Time: at, PSI: [3]int64{-1, -1, -1}}
		if at-100e6 < moment && moment <= at {
			b.Throttled = ns
		}
		s.meta = append(s.meta, b)
	}
}

func TestThrottledIsProvedByTheCounterOfTheCgroup(t *testing.T) {
	const ms = 1000 * us
	for name, tt := range map[string]struct {
		wait    int64
		counted int64
		flags   eventfile.Flags
		want    string
	}{
		"woken on an idle CPU, quota used up":             {wait: 40 * ms, counted: 41 * ms, want: "throttled"},
		"the kernel said so at the wakeup":                {wait: 40 * ms, flags: eventfile.FlagThrottled, want: "throttled"},
		"a CPU that is slow to leave idle":                {wait: 40 * ms, counted: 3 * ms, want: "waking"},
		"slow to leave idle near others that had to wait": {wait: ms / 2, counted: 41 * ms, want: "waking"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.header.Targets = []eventfile.Target{{Pid: svcTid, Cgroup: "/system.slice/scorer.service"}}
			s.meta = append(s.meta, &eventfile.Proc{Pid: svcTid, Comm: "scorer", Cgroup: "/system.slice/scorer.service", Target: true})
			s.normal(60)
			s.request(normalSteps, func() {
				s.block(35)
				s.run(us)
				s.add(eventfile.Event{Kind: eventfile.KindWaking, Tid: svcTid, Flags: eventfile.FlagHardirq | tt.flags})
				s.run(tt.wait)
				s.switchIn(0)
				s.boxes(s.now, tt.counted)
			})
			s.normal(39)
			r, x, _ := s.one()
			if x.Verdict != tt.want {
				t.Fatalf("verdict %q, want %q; parts %v", x.Verdict, tt.want, r.Parts)
			}
			if tt.want != "throttled" {
				return
			}
			if got := r.Parts[part.Throttled]; got != 40*ms {
				t.Errorf("throttled for %d ns, want 40 ms", got)
			}
			e := find(x, EvidenceThrottled, nil)
			if e == nil || e.Unit != "scorer.service" || e.NS != 40*ms || e.Value == nil || *e.Value != float64(tt.counted) || *e.Normal != 0 {
				t.Errorf("evidence %+v", e)
			}
		})
	}
}

func TestQuotaOfABusyCPUIsNotItsOccupantsDoing(t *testing.T) {
	s := newScenario(t)
	r, x := s.slow(func() {
		s.add(eventfile.Event{Kind: eventfile.KindSwitch, Tid: svcTid, Peer: hogTid, Flags: eventfile.FlagThrottled})
		s.run(5000 * us)
		s.switchIn(hogTid)
	})
	if x.Verdict != "throttled" || r.Parts[part.Throttled] != 5000*us {
		t.Errorf("verdict %q, parts %v", x.Verdict, r.Parts)
	}
}

func TestColdCachesAreEvidenceBesideNormalRequests(t *testing.T) {
	s := newScenario(t)
	s.normal(60)
	s.request([3]int64{200, 1400, 400}, nil)
	for i := range s.events { // the switch that begins its stay
		e := &s.events[i]
		if e.Kind == eventfile.KindSwitch && e.Peer == svcTid {
			e.Dur = 3 * us
			if e.Time == s.windows[60].Begin-10*us {
				e.Dur = 700 * us
			}
		}
	}
	s.normal(39)
	_, x, _ := s.one()
	e := find(x, EvidenceCold, nil)
	if x.Verdict != VerdictSlowCore || e == nil || *e.Value != 700*us || *e.Normal != 3*us {
		t.Errorf("verdict %q, others had the CPU for %g ns, normally %g", x.Verdict, *e.Value, *e.Normal)
	}
}

func TestMissingTicksOfTheSamplingClockShowAStalledCPU(t *testing.T) {
	const ms = 1000 * us
	const period = 10 * ms
	for name, tt := range map[string]struct {
		hz    int32
		ticks bool // while the slow request runs
		lost  bool
		want  bool
	}{
		"none while it runs":       {hz: 100, want: true},
		"ticks as they should be":  {hz: 100, ticks: true},
		"samples are off":          {},
		"events were lost instead": {hz: 100, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.header.SampleHz = tt.hz
			_, x := s.slow(func() {
				for range 6 {
					s.run(period)
					if tt.ticks {
						s.add(eventfile.Event{Kind: eventfile.KindSample, Tid: svcTid})
					}
				}
				if tt.lost {
					s.meta = append(s.meta, &eventfile.Loss{Source: eventfile.LossRing, CPU: 0, Count: 1, First: s.now - 5*period, Last: s.now - 5*period + 1})
				}
			})
			e := find(x, EvidenceSampleGap, nil)
			if (e != nil) != tt.want {
				t.Fatalf("evidence %+v", e)
			}
			if e != nil && (*e.Value < 6*float64(period) || *e.Normal != float64(period)) {
				t.Errorf("a gap of %g ns, normally %g", *e.Value, *e.Normal)
			}
		})
	}
}
