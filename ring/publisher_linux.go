package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options say what ring to make.
type Options struct {
	Service string
	Slots   int    // a power of two from MinSlots to MaxSlots; 0 = DefaultSlots
	Dir     string // "" = DefaultDir
}

// Publisher writes this process's ring. All of its methods may be called from
// any goroutine at any time, never block on a reader and never fail: a
// Publisher that is off, closed or nil does nothing.
type Publisher struct {
	mem    []byte // nil: off
	mask   uint64
	head   *atomic.Uint64
	closed atomic.Bool
	path   string
	file   os.FileInfo

	mu    sync.RWMutex
	names map[string]uint8
}

// Create makes the ring of this process, DefaultDir/tailtrace-<pid>.ring. A
// file that an earlier process left under that name is replaced.
func Create(o Options) (*Publisher, error) {
	if o.Slots == 0 {
		o.Slots = DefaultSlots
	}
	if o.Dir == "" {
		o.Dir = DefaultDir
	}
	if !validSlots(uint64(o.Slots)) {
		return nil, fmt.Errorf("create request ring: %d slots: %w: want a power of two from %d to %d",
			o.Slots, ErrSlotCount, MinSlots, MaxSlots)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, fmt.Errorf("create request ring: this machine is big-endian: %w", errors.ErrUnsupported)
	}
	sweep(o.Dir)
	p, err := create(o)
	if err != nil {
		return nil, fmt.Errorf("create request ring: %w", err)
	}
	return p, nil
}

func create(o Options) (*Publisher, error) {
	path := filepath.Join(o.Dir, FileName(os.Getpid()))
	size := HeaderSize + SlotSize*o.Slots
	f, err := createFile(path, int64(size))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := Header{Slots: o.Slots, Pid: uint32(os.Getpid()), Created: Now(), Service: cleanName(o.Service)}
	mem, info, err := mapFile(f, h.encode(), size)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &Publisher{
		mem:   mem,
		mask:  uint64(o.Slots) - 1,
		head:  (*atomic.Uint64)(unsafe.Pointer(&mem[offHead])),
		path:  path,
		file:  info,
		names: map[string]uint8{"": 0},
	}, nil
}

// mapFile writes the header before the mapping exists, so that whoever finds
// the mapping finds a whole header.
func mapFile(f *os.File, header []byte, size int) ([]byte, os.FileInfo, error) {
	if _, err := f.WriteAt(header, 0); err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return mem, info, nil
}

// Open is Create for a service that must run with or without a ring: where
// there can be none, it says why on standard error and returns a Publisher
// that is off.
func Open(o Options) *Publisher {
	p, err := Create(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "tailtrace: requests are not published: %v\n", err)
		return &Publisher{}
	}
	return p
}

func (p *Publisher) off() bool { return p == nil || p.mem == nil || p.closed.Load() }

// Name returns the id of a kind or step, which is best asked for once and
// kept. It is 0, unnamed, when all ids are in use. Names are cut to NameSize
// bytes.
func (p *Publisher) Name(s string) uint8 {
	if p.off() {
		return 0
	}
	p.mu.RLock()
	id, ok := p.names[s]
	p.mu.RUnlock()
	if ok {
		return id
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.addName(cleanName(s))
}

func (p *Publisher) addName(s string) uint8 {
	if id, ok := p.names[s]; ok || len(p.names) > MaxNames {
		return id
	}
	id := len(p.names)
	copy(p.mem[offNames+NameSize*(id-1):][:NameSize], s)
	count := (*atomic.Uint32)(unsafe.Pointer(&p.mem[offNameCount]))
	count.Store(uint32(id))
	p.names[s] = uint8(id)
	return uint8(id)
}

// Publish writes a window or span whose times are known. Points that do not
// fit are left out as Window does it, and FlagCut is set.
func (p *Publisher) Publish(s *Slot) {
	if p.off() {
		return
	}
	w := windows.Get().(*Window)
	w.list.reset()
	for _, pt := range s.Points {
		w.list.add(pt)
	}
	w.frame.fill(s, &w.list)
	p.publish(&w.frame)
	windows.Put(w)
}

// Span publishes a runtime span: from begin to end, ns of Now, the whole
// process stood still.
func (p *Publisher) Span(name uint8, begin, end int64) {
	p.Publish(&Slot{Type: Span, Kind: name, Begin: begin, End: end})
}

func (p *Publisher) publish(f *frame) {
	index := p.head.Add(1) - 1
	slot := p.mem[slotOffset(index, p.mask):][:SlotSize]
	seq := (*atomic.Uint64)(unsafe.Pointer(&slot[offSeq]))
	seq.Store(2*index + 1)
	binary.LittleEndian.PutUint32(slot[offCRC:], f.seal(2*index+2))
	copy(slot[offType:], f[at(offType):])
	seq.Store(2*index + 2)
}

// Close unlinks the ring and gives its memory back. A reader that has it open
// can still read what was published.
func (p *Publisher) Close() error {
	if p == nil || p.mem == nil || p.closed.Swap(true) {
		return nil
	}
	// A publish may be under way in another goroutine. Anonymous memory takes
	// the mapping's place, so that it writes into nothing instead of faulting.
	_, err := unix.MmapPtr(-1, 0, unsafe.Pointer(&p.mem[0]), uintptr(len(p.mem)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED)
	if err != nil {
		err = fmt.Errorf("close request ring: %w", os.NewSyscallError("mmap", err))
	}
	info, statErr := os.Lstat(p.path)
	if statErr == nil && os.SameFile(info, p.file) { // else it has been replaced
		err = errors.Join(err, os.Remove(p.path))
	}
	return err
}
