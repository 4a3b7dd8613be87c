package symbols

// site is a place in a module's code, as a stack has it.
type site struct {
	name   string // of the function, as the file has it; "" where it has none
	start  uint64 // of the function; 0: not known
	framed bool   // its frame pointer is set up here, so that a walk finds its caller
	isCall bool   // a call returns to here
	target uint64 // of that call, where the code says it
	callee string // the function at target
	size   uint64 // of that, as far as it is known
}

type siteKey struct {
	vaddr uint64
	inner bool
}

const maxSites = 1 << 16

// site looks a place up. inner says that a thread was there, and not in a
// call that returns there.
func (m *module) site(asm isa, vaddr uint64, inner bool) site {
	key := siteKey{vaddr, inner}
	s, ok := m.sites[key]
	if ok {
		return s
	}
	if inner {
		s = m.innerSite(asm, vaddr)
	} else {
		s = m.callSite(asm, vaddr)
	}
	if m.sites == nil || len(m.sites) >= maxSites {
		m.sites = make(map[siteKey]site)
	}
	m.sites[key] = s
	return s
}

func (m *module) innerSite(asm isa, vaddr uint64) (s site) {
	fn, name, ok := m.symbols.find(vaddr)
	if !ok {
		return s
	}
	s.name, s.start = name, fn.addr
	s.framed = m.framed(asm, fn.addr, vaddr) && !asm.returning(m.bytesAt(vaddr, 4))
	return s
}

// callSite looks inside of the call: what it returns to may be another
// function, where the called one never returns.
func (m *module) callSite(asm isa, vaddr uint64) (s site) {
	if fn, name, ok := m.symbols.find(vaddr - 1); ok {
		s.name, s.start = name, fn.addr
		s.framed = m.framed(asm, fn.addr, vaddr)
	}
	s.isCall, s.target = asm.call(m.bytesAt(vaddr-longestCall, longestCall), vaddr)
	if s.target != 0 {
		if fn, name, ok := m.symbols.find(s.target); ok && fn.addr == s.target {
			s.callee, s.size = name, fn.size
		}
	}
	return s
}

// framed asks the function's code from its start to where it is.
func (m *module) framed(asm isa, start, at uint64) bool {
	return asm.framed(m.bytesAt(start, int(min(at-start, codeWindow))))
}
