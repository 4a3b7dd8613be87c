package eventfile

// set is the inverse of kernelBlock.code. It reports whether code can stand
// for a value of the field.
func (b *kernelReader) set(e *Event, f field, code, cpu uint64) (ok bool) {
	if f == runningField[e.Kind] {
		if f == fieldTid {
			return b.setRunning(&e.Tid, code, cpu)
		}
		return b.setRunning(&e.Peer, code, cpu)
	}
	switch f {
	case fieldFlags:
		e.Flags = Flags(code)
		return uint64(e.Flags) == code
	case fieldTid:
		e.Tid, ok = b.tids.value(code)
	case fieldPeer:
		e.Peer, ok = b.tids.value(code)
	case fieldDur:
		e.Dur = unzigzag(code)
		return true
	case fieldState:
		e.State = uint32(code)
		return uint64(e.State) == code
	case fieldDestCPU:
		e.DestCPU, ok = b.cpus.value(code)
	case fieldSyscall:
		v := unzigzag(code) + int64(NoSyscall)
		e.Syscall = int32(v)
		return int64(e.Syscall) == v
	case fieldArg0, fieldArg1, fieldArg2:
		e.Args[f-fieldArg0], ok = b.values.value(code)
	case fieldFaultStart:
		e.FaultStart = Time(code)
		return true
	case fieldOwner:
		e.Owner, ok = b.tids.value(code)
	case fieldAddr:
		b.addr[e.Kind] += uint64(unzigzag(code))
		e.Addr = b.addr[e.Kind]
		return true
	case fieldID:
		e.ID = uint32(code)
		return uint64(e.ID) == code
	case fieldTgid:
		v := unzigzag(code)
		e.Tgid = int32(v)
		return int64(e.Tgid) == v
	case fieldStart:
		e.Start = code
		return true
	case fieldComm:
		e.Comm, ok = b.strings.value(code)
	case fieldFdType:
		e.FdType = uint8(code)
		return uint64(e.FdType) == code
	case fieldStack:
		e.Stack, ok = b.values.value(code)
	case fieldCycles, fieldInstructions, fieldStalled:
		e.Counts[f-fieldCycles] = code
		return true
	case fieldAway:
		e.Away = int64(code)
		return true
	case fieldLag:
		e.Lag = int64(code)
		return true
	}
	return ok
}

func (b *kernelReader) setRunning(tid *int32, code, cpu uint64) bool {
	ok := true
	if code > 0 {
		b.running[cpu], ok = b.tids.value(code - 1)
	}
	*tid = b.running[cpu]
	return ok
}
