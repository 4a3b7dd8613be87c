package collector

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
)

const (
	defaultRingTotal = 16 << 20
	minRing          = 256 << 10
	maxRing          = 8 << 20
)

// ringSize is the size of one CPU's ring, a power of two: total, as the user
// asked, divided between cpus, or where total is 0 a default within bounds.
func ringSize(total, cpus int) int {
	lowest := os.Getpagesize()
	if total == 0 {
		total, lowest = defaultRingTotal, minRing
	}
	each := max(min(total/max(cpus, 1), maxRing), lowest)
	return 1 << (bits.Len(uint(each)) - 1)
}

// rings is one ring buffer for each possible CPU: one that is offline may
// come online.
type rings struct {
	maps    []*ebpf.Map
	readers []*ringbuf.Reader
}

func newRings(outer *ebpf.Map, sz sizes, online []int32) (r *rings, err error) {
	r = &rings{}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	for cpu := range sz.cpus {
		size := sz.ringBytes
		if !slices.Contains(online, int32(cpu)) {
			size = min(size, minRing)
		}
		m, err := ebpf.NewMap(&ebpf.MapSpec{Name: "ring", Type: ebpf.RingBuf, MaxEntries: uint32(size)})
		if err != nil {
			return nil, fmt.Errorf("create ring of CPU %d: %w", cpu, err)
		}
		r.maps = append(r.maps, m)
		if err := outer.Put(uint32(cpu), m); err != nil {
			return nil, fmt.Errorf("install ring of CPU %d: %w", cpu, err)
		}
		rd, err := ringbuf.NewReader(m)
		if err != nil {
			return nil, fmt.Errorf("open ring of CPU %d: %w", cpu, err)
		}
		// The kernel side never wakes a reader, so none may wait.
		rd.SetDeadline(time.Unix(0, 1))
		r.readers = append(r.readers, rd)
	}
	return r, nil
}

// ringRecordHeader is what the kernel puts before each record, and the
// alignment of records.
const ringRecordHeader = 8

// drain passes on what is in the ring of cpu now. It does not chase a CPU
// that goes on writing. The record's bytes are valid only during the call.
func (r *rings) drain(cpu int, rec *ringbuf.Record, each func(raw []byte)) error {
	rd := r.readers[cpu]
	for left := rd.AvailableBytes(); left > 0; {
		err := rd.ReadInto(rec)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read ring of CPU %d: %w", cpu, err)
		}
		each(rec.RawSample)
		left -= ringRecordHeader + (len(rec.RawSample)+7)&^7
	}
	return nil
}

func (r *rings) close() {
	for _, rd := range r.readers {
		rd.Close()
	}
	for _, m := range r.maps {
		m.Close()
	}
}
