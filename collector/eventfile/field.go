package eventfile

// field is a member of Event that has a column of its own for each Kind. The
// numbers are part of the format; Kind, CPU and Time are columns of rows.
type field uint8

const (
	fieldFlags field = iota
	fieldTid
	fieldPeer
	fieldDur
	fieldState
	fieldDestCPU
	fieldSyscall
	fieldArg0
	fieldArg1
	fieldArg2
	fieldFaultStart
	fieldOwner
	fieldAddr
	fieldID
	fieldTgid
	fieldStart
	fieldComm
	fieldFdType
	fieldStack
	fieldCycles // and what else a Counter counts, in their order
	fieldInstructions
	fieldStalled
	fieldAway
	fieldLag
	fieldCount
)

// kindLimit is one more than the largest Kind of this version.
const kindLimit = KindCounters + 1

// runningField tells which field of a kind names the task that was running on
// the event's CPU. Such a field is stored as 0 where it is the task that the
// events before it in the block make one expect, which it nearly always is.
var runningField = [kindLimit]field{
	KindTask:      fieldCount,
	KindSwitch:    fieldTid,
	KindWaking:    fieldPeer,
	KindWakeupNew: fieldPeer,
	KindMigrate:   fieldCount,
	KindFork:      fieldTid,
	KindExec:      fieldTid,
	KindExit:      fieldTid,
	KindFault:     fieldTid,
	KindIRQ:       fieldTid,
	KindSoftirq:   fieldTid,
	KindVector:    fieldTid,
	KindNMI:       fieldTid,
	KindSnapshot:  fieldCount,
	KindSample:    fieldTid,
	KindCounters:  fieldCount, // 1.0 skips it: it may not change what is expected
}
