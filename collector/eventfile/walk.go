package eventfile

// The order of fields below is the order in the file. A later minor version
// may add fields at the end of a record, never inside a list's element.

func (w *Window) walk(c coder) {
	c.bool(&w.Span)
	c.uint8(&w.Flags)
	c.str(&w.Kind)
	c.int32(&w.Pid)
	c.bytes16(&w.ID.Bytes)
	c.bool(&w.ID.Raw)
	c.time(&w.Begin)
	c.time(&w.End)
	c.int64(&w.CPU)
	c.int32(&w.Tid)
	c.int32(&w.EndTid)
	var before int64
	walkList(c, &w.Points, func(p *Point) {
		c.uint8((*uint8)(&p.Type))
		c.since(&p.Offset, before)
		c.str(&p.Name)
		c.int32(&p.Tid)
		before = p.Offset
	})
}

func (l *Loss) walk(c coder) {
	c.uint8((*uint8)(&l.Source))
	c.int32(&l.CPU)
	c.uint64(&l.Count)
	c.time(&l.First)
	c.time(&l.Last)
	c.str(&l.What)
}

func (s *BoxSample) walk(c coder) {
	c.time(&s.Time)
	c.int64(&s.RealtimeOffset)
	walkList(c, &s.CPUs, func(s *CPUSample) {
		c.int32(&s.CPU)
		c.int64(&s.Busy)
		c.int64(&s.Steal)
		c.int64(&s.IRQ)
		c.int64(&s.FreqKHz)
	})
	for i := range s.PSI {
		c.int64(&s.PSI[i])
	}
	c.int64(&s.Interrupts)
	c.int64(&s.Switches)
	c.int64(&s.MemAvailable)
	c.int64(&s.SwapIn)
	c.int64(&s.Throttled)
	c.int64(&s.AgentCPU)
}

func (p *Proc) walk(c coder) {
	c.int32(&p.Pid)
	c.str(&p.Comm)
	c.str(&p.Cmdline)
	c.str(&p.Cgroup)
	c.bool(&p.Self)
	c.bool(&p.Target)
}

func (n *Note) walk(c coder) {
	c.time(&n.Time)
	c.str(&n.Text)
}

func (n *Name) walk(c coder) {
	c.str(&n.Class)
	c.uint32(&n.ID)
	c.str(&n.Name)
}

func (m *Mapping) walk(c coder) {
	c.int32(&m.Pid)
	c.time(&m.Time)
	c.uint64(&m.Start)
	c.uint64(&m.End)
	c.str(&m.Perms)
	c.str(&m.Path)
}

func (f *Fd) walk(c coder) {
	c.int32(&f.Pid)
	c.int32(&f.Fd)
	c.time(&f.Time)
	c.str(&f.Name)
}

func (s *Stack) walk(c coder) {
	c.uint64(&s.ID)
	c.int32(&s.Pid)
	var before int64
	walkList(c, &s.Frames, func(f *Frame) {
		addr := int64(f.Addr)
		c.since(&addr, before)
		f.Addr, before = uint64(addr), addr
		c.uint64(&f.Offset)
		c.str(&f.Module)
		c.str(&f.BuildID)
		c.str(&f.Symbol)
	})
}

func (h *Header) walk(c coder) {
	c.str(&h.Tool)
	c.str(&h.Host)
	c.str(&h.Kernel)
	c.str(&h.Arch)
	walkList(c, &h.CPUs, c.int32)
	c.time(&h.Started)
	c.int64(&h.RealtimeOffset)
	walkList(c, &h.Targets, func(t *Target) {
		c.int32(&t.Pid)
		c.str(&t.Comm)
		c.str(&t.Cmdline)
		c.str(&t.Cgroup)
	})
	walkList(c, &h.Hooks, func(k *Hook) {
		c.str(&k.Name)
		c.str(&k.How)
		c.str(&k.Why)
		c.str(&k.Lost)
	})
	walkList(c, &h.Options, c.str)
	c.int64(&h.FaultTrap)
	c.int32(&h.SampleHz)
}

func (e *End) walk(c coder) {
	c.time(&e.Time)
	c.str(&e.Reason)
	c.uint64(&e.Events)
	c.uint64(&e.Windows)
	c.uint64(&e.Lost)
	c.uint64(&e.Bytes)
}
