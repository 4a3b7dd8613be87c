package symbols

import (
	"strings"
	"time"

	"github.com/ianlancetaylor/demangle"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Raw is a stack as the kernel took it: addresses, the innermost first.
type Raw struct {
	ID     uint64
	Pid    int32
	Kernel []uint64
	User   []uint64
	// Deep says that the program's stack had more frames than were taken.
	Deep bool
}

// Resolver names the calls of stacks. It is for one goroutine.
type Resolver struct {
	root    string // "/proc"
	isa     isa
	kernel  *table
	modules *modules
	procs   map[int32]*process
	pretty  map[string]string // demangled names
}

const (
	maxProcesses = 1024
	maxPretty    = 1 << 16
	maxDemangled = 9 // bits of the length
)

// NewResolver reads nothing yet.
func NewResolver() *Resolver {
	return &Resolver{
		root: "/proc", isa: hostISA(), modules: newModules(),
		procs: make(map[int32]*process), pretty: make(map[string]string),
	}
}

// Close lets go of the files that it keeps open.
func (r *Resolver) Close() { r.modules.clear() }

// Resolve names the calls of a stack as far as they can be found now.
func (r *Resolver) Resolve(raw *Raw) *eventfile.Stack {
	s := &eventfile.Stack{ID: raw.ID, Pid: raw.Pid}
	s.Frames = append(r.kernelFrames(raw.Kernel), r.userFrames(raw)...)
	return s
}

func (r *Resolver) kernelFrames(addrs []uint64) []eventfile.Frame {
	if len(addrs) == 0 {
		return nil
	}
	if r.kernel == nil {
		r.kernel = readKernel()
	}
	frames := make([]eventfile.Frame, len(addrs))
	names := make([]string, len(addrs))
	for i, addr := range addrs {
		frames[i] = eventfile.Frame{Addr: addr, Module: kernelName}
		if i > 0 {
			addr-- // into the call that returns to there
		}
		if _, text, ok := r.kernel.find(addr); ok {
			frames[i].Symbol, frames[i].Module = kernelSymbol(text)
		}
		names[i] = frames[i].Symbol
	}
	return frames[ownFrames(names):]
}

func (r *Resolver) userFrames(raw *Raw) []eventfile.Frame {
	now := time.Now()
	p := r.process(raw.Pid)
	p.update(now)
	w := walk{isa: r.isa, demangle: r.demangle}
	for i, addr := range raw.User {
		if !w.add(r.call(p, addr, i == 0, now)) {
			return w.finish(false)
		}
	}
	return w.finish(raw.Deep)
}

func (r *Resolver) process(pid int32) *process {
	p := r.procs[pid]
	if p == nil {
		if len(r.procs) >= maxProcesses {
			clear(r.procs)
		}
		p = newProcess(r.root, pid)
		r.procs[pid] = p
	}
	return p
}

// call looks an address up.
func (r *Resolver) call(p *process, addr uint64, inner bool, now time.Time) *call {
	c := &call{frame: eventfile.Frame{Addr: addr}}
	m := findMapping(p.maps, addr)
	if m == nil {
		return c
	}
	c.mapped = true
	c.frame.Module, c.frame.Offset = m.name(), addr-m.start+m.offset
	if c.module = r.modules.of(p.dir, m); c.module == nil {
		r.made(p, c, m, inner, now)
		return c
	}
	c.vaddr, _ = c.module.vaddr(c.frame.Offset)
	if c.vaddr != 0 {
		c.site = c.module.site(r.isa, c.vaddr, inner)
	}
	if c.frame.Symbol = r.demangle(c.site.name); c.frame.Symbol == "" {
		c.frame.BuildID = c.module.buildID
	}
	return c
}

// made looks up code that is in no file, or none that can be read.
func (r *Resolver) made(p *process, c *call, m *mapping, inner bool, now time.Time) {
	at := c.frame.Addr
	if !inner {
		at--
	}
	c.frame.Symbol = r.demangle(p.jitSymbol(at, now))
	if !m.isFile() && !strings.HasPrefix(m.path, "[") {
		c.frame.Module = jitName
	}
}

const jitName = "[jit]"

// goABI marks Go's functions in assembly.
const goABI = ".abi0"

// demangle makes C++ and Rust names readable.
func (r *Resolver) demangle(name string) string {
	name = strings.TrimSuffix(name, goABI)
	if !strings.HasPrefix(name, "_Z") && !strings.HasPrefix(name, "_R") {
		return name
	}
	pretty, ok := r.pretty[name]
	if !ok {
		if len(r.pretty) >= maxPretty {
			clear(r.pretty)
		}
		pretty = demangle.Filter(name, demangle.NoParams, demangle.MaxLength(maxDemangled))
		r.pretty[name] = pretty
	}
	return pretty
}
