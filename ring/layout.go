// Package ring is the shared-memory ring through which a service tells
// tailtrace which requests it served and when: the layout, a publisher for Go
// services and a reader that trusts nothing it reads. ABI.md is the contract
// with publishers in other languages.
package ring

import "encoding/binary"

// Sizes and limits of ABI version 1.
const (
	ABIVersion     = 1
	HeaderSize     = 4096
	SlotSize       = 256
	MinSlots       = 64
	MaxSlots       = 1 << 20
	DefaultSlots   = 8192
	MaxNames       = 60 // ids 1 to 60; 0 is "unnamed"
	NameSize       = 64
	MaxPoints      = 24 // 64-bit words; a thread point takes two
	ClockMonotonic = 1
)

// DefaultDir is where a ring lives unless it is a memfd.
const DefaultDir = "/dev/shm"

const magic = "TTRING\x00\x01"

// Offsets in the header.
const (
	offMagic      = 0
	offVersion    = 8
	offHeaderSize = 12
	offSlotSize   = 16
	offSlots      = 20
	offPid        = 24
	offClock      = 28
	offCreated    = 32
	offNameCount  = 40
	offHead       = 64
	offService    = 128
	offNames      = 256
)

// serviceSize is the room for the service's name.
const serviceSize = 64

// Offsets in a slot.
const (
	offSeq    = 0
	offCRC    = 8
	offType   = 12
	offKind   = 13
	offCount  = 14
	offFlags  = 15
	offID     = 16
	offBegin  = 32
	offEnd    = 40
	offCPU    = 48
	offTid    = 56
	offEndTid = 60
	offPoints = 64
)

// SlotType says what a slot describes.
type SlotType uint8

const (
	Request SlotType = 1 // a request window
	Span    SlotType = 2 // a runtime span: a GC pause, a safepoint
)

// Flags of a slot.
const (
	FlagCut     uint8 = 1  // some points did not fit
	FlagError   uint8 = 2  // the answer was an error
	FlagTimeout uint8 = 4  // timed out or cancelled
	FlagWarmup  uint8 = 8  // not to be counted
	FlagRawID   uint8 = 16 // ID is 16 raw bytes
)

const knownFlags = FlagCut | FlagError | FlagTimeout | FlagWarmup | FlagRawID

// PointType says what a Point marks.
type PointType uint8

const (
	Mark    PointType = 1 // the step Name ends here
	Suspend PointType = 2 // the request leaves its thread
	Resume  PointType = 3 // it is back
	Thread  PointType = 4 // it goes on in thread Tid
)

// A point's word: bits 0-47 ns after begin, 48-55 name id, 56-63 type.
const (
	maxOffset = 1<<48 - 1
	nameShift = 48
	typeShift = 56
)

// Point is a moment inside a window.
type Point struct {
	Type   PointType
	Name   uint8
	Offset int64  // ns after the window's begin
	Tid    uint32 // Thread points only
}

// Slot is one window or span. Times are ns of CLOCK_MONOTONIC.
type Slot struct {
	Index  uint64 // place in the order of claims; set by Reader, ignored by Publish
	Type   SlotType
	Kind   uint8 // name id of the endpoint, or of the span
	Flags  uint8
	ID     [16]byte
	Begin  int64
	End    int64
	CPU    uint64 // CPU time inside, ns; 0 = not measured
	Tid    uint32 // thread at begin; 0 in a span: the whole process stood still
	EndTid uint32
	Points []Point // Reader reuses the backing array
}

// NumberID is the ID of a request that is known by a number.
func NumberID(n uint64) (id [16]byte) {
	binary.LittleEndian.PutUint64(id[:], n)
	return id
}

// slotOffset is where the slot of index lies in a ring with mask+1 slots.
func slotOffset(index, mask uint64) int64 {
	return HeaderSize + SlotSize*int64(index&mask)
}
