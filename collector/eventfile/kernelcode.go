package eventfile

// code returns what stands for a field of e in its column.
func (b *kernelBlock) code(e *Event, f field, cpu uint64) uint64 {
	if f == runningField[e.Kind] {
		if f == fieldTid {
			return b.runningCode(e.Tid, cpu)
		}
		return b.runningCode(e.Peer, cpu)
	}
	switch f {
	case fieldFlags:
		return uint64(e.Flags)
	case fieldTid:
		return b.tid(e.Tid)
	case fieldPeer:
		return b.tid(e.Peer)
	case fieldDur:
		return zigzag(e.Dur)
	case fieldState:
		return uint64(e.State)
	case fieldDestCPU:
		return b.cpu(e.DestCPU)
	case fieldSyscall:
		return zigzag(int64(e.Syscall) - int64(NoSyscall))
	case fieldArg0, fieldArg1, fieldArg2:
		n, _ := b.values.number(e.Args[f-fieldArg0])
		return n
	case fieldFaultStart:
		return uint64(e.FaultStart)
	case fieldOwner:
		return b.tid(e.Owner)
	case fieldAddr:
		step := int64(e.Addr - b.addr[e.Kind])
		b.addr[e.Kind] = e.Addr
		return zigzag(step)
	case fieldID:
		return uint64(e.ID)
	case fieldTgid:
		return zigzag(int64(e.Tgid))
	case fieldStart:
		return e.Start
	case fieldComm:
		n, _ := b.strings.number(e.Comm)
		return n
	case fieldStack:
		n, _ := b.values.number(e.Stack)
		return n
	case fieldCycles, fieldInstructions, fieldStalled:
		return e.Counts[f-fieldCycles]
	case fieldAway:
		return uint64(e.Away)
	case fieldLag:
		return uint64(e.Lag)
	default: // fieldFdType
		return uint64(e.FdType)
	}
}

// runningCode is 0 for the task that is expected on the CPU, and one more
// than its number for any other, which is then the one expected next.
func (b *kernelBlock) runningCode(tid int32, cpu uint64) uint64 {
	if b.running[cpu] == tid {
		return 0
	}
	b.running[cpu] = tid
	return b.tid(tid) + 1
}

func (b *kernelBlock) tid(v int32) uint64 {
	n, _ := b.tids.number(v)
	return n
}

func (b *kernelBlock) cpu(v int32) uint64 {
	n, isNew := b.cpus.number(v)
	if isNew {
		b.running = append(b.running, 0)
	}
	return n
}
