package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// writeStackSample leaves stacks.bin in dir: 200 requests of 1 ms in compute;
// 70 and 150 are 20 ms longer, in slow_step, and wait 4 ms in fsync.
func writeStackSample(dir string) error {
	f, err := os.Create(filepath.Join(dir, "stacks.bin"))
	if err != nil {
		return err
	}
	defer f.Close()
	header := sampleHeader()
	header.SampleHz = 1000
	w, err := eventfile.NewWriter(f, header)
	if err != nil {
		return err
	}
	s := &sampleWriter{w: w, now: sampleStart}
	s.event(eventfile.Event{Kind: eventfile.KindTask, Tid: sampleService, Tgid: sampleService, Comm: "scorer", Flags: eventfile.FlagTarget, Start: 1})
	s.event(eventfile.Event{Kind: eventfile.KindSnapshot, Tid: sampleService, Flags: eventfile.FlagOnCPU})
	for i := range sampleRequests {
		s.stackRequest(i)
	}
	for id, leaf := range []string{"compute", "slow_step", "fsync"} {
		s.check(w.Stack(&eventfile.Stack{ID: uint64(id + 1), Pid: sampleService, Frames: []eventfile.Frame{
			{Addr: 0x401000 + uint64(id), Offset: 0x1000 + uint64(id), Module: "/usr/bin/scorer", Symbol: leaf},
			{Addr: 0x402000, Offset: 0x2000, Module: "/usr/bin/scorer", Symbol: "handle"},
			{Addr: 0x403000, Offset: 0x3000, Module: "/usr/bin/scorer", Symbol: "main"},
		}}))
	}
	s.check(w.Close(&eventfile.End{Time: s.now, Reason: "test"}))
	if s.err != nil {
		return fmt.Errorf("write stacks.bin: %w", s.err)
	}
	return nil
}

func (s *sampleWriter) stackRequest(i int) {
	const ms = 1_000_000
	w := eventfile.Window{Kind: "/score", Begin: s.now, Tid: sampleService, EndTid: sampleService, Pid: sampleService}
	w.ID.Bytes[0] = byte(i)
	samples := func(stack uint64, n int) {
		for range n {
			s.now += ms / 2
			s.event(eventfile.Event{Kind: eventfile.KindSample, Tid: sampleService, Stack: stack})
			s.now += ms / 2
		}
	}
	samples(1, 1)
	if i == 70 || i == 150 {
		samples(2, 20)
		s.event(eventfile.Event{Kind: eventfile.KindSwitch, Tid: sampleService, State: eventfile.StateUninterruptible, Syscall: 74, Stack: 3})
		s.now += 4 * ms
		s.event(eventfile.Event{Kind: eventfile.KindWaking, Tid: sampleService})
		s.event(eventfile.Event{Kind: eventfile.KindSwitch, Peer: sampleService})
	}
	w.End = s.now
	s.check(s.w.Window(&w))
	s.now += ms / 10
}
