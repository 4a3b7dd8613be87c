package eventfile

// coder walks over the fields of a record, to write them or to fill them in.
// Each type says its fields once for both, so the two cannot disagree.
type coder interface {
	bool(*bool)
	uint8(*uint8)
	uint32(*uint32)
	uint64(*uint64)
	int32(*int32)
	int64(*int64)
	str(*string)
	bytes16(*[16]byte)
	// time walks a moment that counts for the block's time range.
	time(*Time)
	// since walks a value that is near from.
	since(v *int64, from int64)
	// list walks the length of a list and returns it.
	list(length int) int
}

// walkList walks a slice. A slice that is not nil but empty becomes nil.
func walkList[T any](c coder, s *[]T, each func(*T)) {
	n := c.list(len(*s))
	if n != len(*s) {
		*s = make([]T, n)
	}
	for i := range *s {
		each(&(*s)[i])
	}
}

// record is a type that blocks of records hold.
type record interface{ walk(coder) }

// recordType is the number of a type of record. It is part of the format.
type recordType uint64

const (
	recordWindow recordType = 1
	recordLoss   recordType = 2
	recordBox    recordType = 3
	recordProc   recordType = 4
	recordNote   recordType = 5
	recordName   recordType = 6
	recordHeader recordType = 7 // alone in the header block
	recordEnd    recordType = 8 // alone in the end block
	recordStack  recordType = 9
	recordMap    recordType = 10
	recordFd     recordType = 11
)

// newRecord returns nil for a type that a block of records does not hold, or
// holds only in a newer minor version.
func newRecord(t recordType) record {
	switch t {
	case recordWindow:
		return new(Window)
	case recordLoss:
		return new(Loss)
	case recordBox:
		return new(BoxSample)
	case recordProc:
		return new(Proc)
	case recordNote:
		return new(Note)
	case recordName:
		return new(Name)
	case recordStack:
		return new(Stack)
	case recordMap:
		return new(Mapping)
	case recordFd:
		return new(Fd)
	}
	return nil
}
