package symbols

import (
	"bytes"
	"io"
	"os"
)

// module is a program, library or vDSO as mapped into any process.
type module struct {
	image
	code  io.ReaderAt
	file  *os.File // behind code; nil if it is memory
	sites map[siteKey]site
}

// A moduleKey tells files apart as the kernel does in /proc/PID/maps.
type moduleKey struct {
	dev   string
	inode uint64
	path  string
}

// Bounds on all modules together. Beyond them functions stay without a name,
// and the recording has build ids to find them by later.
const (
	maxModules     = 256 // and as many open files
	maxModuleBytes = 256 << 20
)

// modules are the files read so far.
type modules struct {
	byKey map[moduleKey]*module // nil: cannot be read
	vdso  *module
	bytes int
}

func newModules() *modules { return &modules{byKey: make(map[moduleKey]*module)} }

// of returns the module of a mapping, read now if need be, or nil.
func (ms *modules) of(dir string, m *mapping) *module {
	switch {
	case m.path == vdsoName:
		return ms.ownVDSO()
	case !m.isFile():
		return nil
	}
	key := moduleKey{m.dev, m.inode, m.path}
	mod, known := ms.byKey[key]
	if known {
		return mod
	}
	if len(ms.byKey) >= maxModules {
		ms.clear()
	}
	mod = ms.read(dir, m)
	ms.byKey[key] = mod
	return mod
}

func (ms *modules) read(dir string, m *mapping) *module {
	f, err := openMapped(dir, m)
	if err != nil {
		return nil
	}
	img, err := readImage(f)
	if err != nil {
		f.Close()
		return nil
	}
	if ms.bytes += img.symbols.bytes(); ms.bytes > maxModuleBytes {
		ms.bytes -= img.symbols.bytes()
		img.symbols = table{}
	}
	return &module{image: *img, code: f, file: f}
}

func (ms *modules) ownVDSO() *module {
	if ms.vdso == nil {
		ms.vdso = &module{}
		if img, raw := readVDSO(); img != nil {
			ms.vdso = &module{image: *img, code: bytes.NewReader(raw)}
		}
	}
	return ms.vdso
}

func (ms *modules) clear() {
	for _, mod := range ms.byKey {
		if mod != nil && mod.file != nil {
			mod.file.Close()
		}
	}
	clear(ms.byKey)
	ms.bytes = 0
}

// bytesAt returns up to n bytes of code from an address on.
func (m *module) bytesAt(vaddr uint64, n int) []byte {
	off, ok := m.offset(vaddr)
	if !ok || m.code == nil {
		return nil
	}
	buf := make([]byte, n)
	got, _ := m.code.ReadAt(buf, int64(off))
	return buf[:got]
}
