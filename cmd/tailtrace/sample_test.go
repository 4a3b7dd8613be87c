package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// sample is a small recording whose every number is known: 200 requests of
// 500 us, sent every millisecond; a hog takes the CPU from two of them.
const (
	sampleRequests = 200
	sampleStart    = eventfile.Time(1_000_000_000)
	sampleService  = 100
	sampleHog      = 200
)

func sampleHeader() *eventfile.Header {
	return &eventfile.Header{
		Tool: "tailtrace test", Host: "box", Kernel: "6.8.0", Arch: "amd64", CPUs: []int32{0, 1},
		Started: sampleStart, FaultTrap: -1, RealtimeOffset: 1_700_000_000_000_000_000,
		Targets: []eventfile.Target{{Pid: sampleService, Comm: "scorer"}},
	}
}

// writeSample leaves events.bin and rows.jsonl, and damaged and foreign
// variants of them, in dir.
func writeSample(dir string) error {
	var rows strings.Builder
	f, err := os.Create(filepath.Join(dir, "events.bin"))
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := eventfile.NewWriter(f, sampleHeader())
	if err != nil {
		return err
	}
	s := &sampleWriter{w: w, now: sampleStart}
	s.event(eventfile.Event{Kind: eventfile.KindTask, Tid: sampleService, Tgid: sampleService, Comm: "scorer", Flags: eventfile.FlagTarget, Start: 1})
	s.event(eventfile.Event{Kind: eventfile.KindTask, Tid: sampleHog, Tgid: sampleHog, Comm: "hog"})
	s.event(eventfile.Event{Kind: eventfile.KindSnapshot, Tid: sampleService, State: eventfile.StateInterruptible, Syscall: 232})
	s.check(w.Name(&eventfile.Name{Class: "syscall", ID: 232, Name: "epoll_wait"}))
	for i := range sampleRequests {
		s.request(&rows, i)
	}
	s.check(w.Close(&eventfile.End{Time: s.now, Reason: "test"}))
	if s.err != nil {
		return s.err
	}
	return writeVariants(dir, rows.String())
}

type sampleWriter struct {
	w   *eventfile.Writer
	now eventfile.Time
	err error
}

func (s *sampleWriter) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *sampleWriter) event(e eventfile.Event) {
	e.Time = s.now
	if e.Kind != eventfile.KindSnapshot && e.Syscall == 0 {
		e.Syscall = eventfile.NoSyscall
	}
	s.check(s.w.Event(&e))
}

func (s *sampleWriter) request(rows *strings.Builder, i int) {
	const us = 1000
	send := s.now
	s.now += 10 * us
	s.event(eventfile.Event{Kind: eventfile.KindWaking, Tid: sampleService, Flags: eventfile.FlagSoftirq})
	s.now += 5 * us
	s.event(eventfile.Event{Kind: eventfile.KindSwitch, Peer: sampleService})
	w := eventfile.Window{Kind: "/score", Begin: s.now, Tid: sampleService, EndTid: sampleService, Pid: sampleService}
	id := 1000001 + i
	for b := range 4 {
		w.ID.Bytes[b] = byte(id >> (8 * b))
	}
	s.now += 200 * us
	w.Points = append(w.Points, eventfile.Point{Type: eventfile.PointMark, Offset: int64(s.now - w.Begin), Name: "lookup"})
	if i == 70 || i == 150 {
		s.event(eventfile.Event{Kind: eventfile.KindSwitch, Tid: sampleService, Peer: sampleHog, Flags: eventfile.FlagPreempt})
		s.now += eventfile.Time(3+i/100) * 1000 * us
		s.event(eventfile.Event{Kind: eventfile.KindSwitch, Tid: sampleHog, Peer: sampleService})
	}
	s.now += 250 * us
	w.Points = append(w.Points, eventfile.Point{Type: eventfile.PointMark, Offset: int64(s.now - w.Begin), Name: "predict"})
	w.End = s.now
	s.check(s.w.Window(&w))
	s.now += 15 * us
	s.event(eventfile.Event{Kind: eventfile.KindSwitch, Tid: sampleService, State: eventfile.StateInterruptible, Syscall: 232, Args: [3]uint64{3, 9, 9}})
	s.now += 20 * us
	fmt.Fprintf(rows, `{"id": %d, "send_ns": %d, "recv_ns": %d, "status": 200, "error": "", "run": "r1"}`+"\n", id, send, s.now)
	s.now += 500 * us
}

func writeVariants(dir, rows string) error {
	events, err := os.ReadFile(filepath.Join(dir, "events.bin"))
	if err != nil {
		return err
	}
	newer := append([]byte(nil), events...)
	newer[8] = 99 // the major version; the checksum of the preamble follows, see FORMAT.md
	binary.LittleEndian.PutUint32(newer[12:], crc32.Checksum(newer[:12], crc32.MakeTable(crc32.Castagnoli)))
	files := map[string]string{
		"rows.jsonl":       rows,
		"other-run.jsonl":  strings.ReplaceAll(rows, `"id": 1000`, `"id": 7000`),
		"other-time.jsonl": strings.ReplaceAll(rows, `_ns": 1`, `_ns": 9`),
		"no-recv.jsonl":    strings.ReplaceAll(rows, `"recv_ns"`, `"received"`),
		"not-json.jsonl":   strings.Replace(rows, `{"id": 1000003`, `id=1000003`, 1),
		"empty.jsonl":      "",
		"torn.bin":         string(events[:len(events)-60]),
		"newer.bin":        string(newer),
		"empty.bin":        "",
		"text.bin":         "root:x:0:0:root:/root:/bin/bash\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
