package symbols

import (
	"debug/elf"
	"debug/gosym"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds on what one program or library may take.
const (
	maxSymbols   = 1 << 20
	maxNames     = 64 << 20
	maxPclntab   = 64 << 20
	maxNote      = 4 << 10
	maxHeaders   = 1 << 12 // sections or segments
	maxBuildID   = 64
	noteGNUBuild = 3
)

var errTooLarge = errors.New("too large")

// image is what is kept of an ELF file.
type image struct {
	loads   []load
	symbols table
	buildID string
}

// load is an executable segment.
type load struct{ offset, size, vaddr uint64 }

// vaddr returns the address that the file's symbols have for an offset in it.
func (i *image) vaddr(offset uint64) (uint64, bool) {
	for _, l := range i.loads {
		if offset >= l.offset && offset-l.offset < l.size {
			return offset - l.offset + l.vaddr, true
		}
	}
	return 0, false
}

// offset is the inverse of vaddr.
func (i *image) offset(vaddr uint64) (uint64, bool) {
	for _, l := range i.loads {
		if vaddr >= l.vaddr && vaddr-l.vaddr < l.size {
			return vaddr - l.vaddr + l.offset, true
		}
	}
	return 0, false
}

// readImage reads an ELF file. debug/elf is not made for hostile files: what
// it panics over is an error here.
func readImage(r io.ReaderAt) (img *image, err error) {
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("read ELF: %v", p)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("read ELF: %w", err)
	}
	if len(f.Sections) > maxHeaders || len(f.Progs) > maxHeaders || f.Class != elf.ELFCLASS64 {
		return nil, fmt.Errorf("read ELF: %w", errTooLarge)
	}
	img = &image{}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			img.loads = append(img.loads, load{p.Off, p.Filesz, p.Vaddr})
		}
	}
	img.buildID = buildID(f)
	for _, read := range []func(*elf.File){
		func(f *elf.File) { img.readSymbols(f, elf.SHT_SYMTAB) },
		img.readPclntab, // of a stripped Go program
		func(f *elf.File) { img.readSymbols(f, elf.SHT_DYNSYM) },
	} {
		if read(f); len(img.symbols.list) > 0 {
			break
		}
	}
	img.addLinkage(f)
	return img, nil
}

// data returns a section's bytes if they are as the file has them, and few.
func data(s *elf.Section, limit uint64) []byte {
	if s == nil || s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > limit {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}

// readSymbols takes the functions of a symbol table. What cannot be read is
// as if it were not there.
func (i *image) readSymbols(f *elf.File, kind elf.SectionType) {
	section := f.SectionByType(kind)
	if section == nil || int(section.Link) >= len(f.Sections) {
		return
	}
	raw := data(section, maxSymbols*elf.Sym64Size)
	names := data(f.Sections[section.Link], maxNames)
	for ; len(raw) >= elf.Sym64Size; raw = raw[elf.Sym64Size:] {
		name := f.ByteOrder.Uint32(raw)
		defined := f.ByteOrder.Uint16(raw[6:]) != uint16(elf.SHN_UNDEF)
		t := elf.ST_TYPE(raw[4])
		if !defined || t != elf.STT_FUNC && t != elf.STT_GNU_IFUNC && t != elf.STT_NOTYPE || int(name) >= len(names) || names[name] == 0 {
			continue
		}
		s := symbol{f.ByteOrder.Uint64(raw[8:]), f.ByteOrder.Uint64(raw[16:]), name}
		if _, inCode := i.offset(s.addr); inCode && names[name] != '$' { // $x and the like only mark code on arm64
			i.symbols.list = append(i.symbols.list, s)
		}
	}
	i.symbols.names = names
	i.symbols.sort()
}

// readPclntab takes the functions that a Go program keeps for itself.
func (i *image) readPclntab(f *elf.File) {
	raw := data(f.Section(".gopclntab"), maxPclntab)
	text := f.Section(".text")
	if raw == nil || text == nil {
		return
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(raw, text.Addr))
	if err != nil {
		return
	}
	i.symbols = table{}
	for _, fn := range t.Funcs {
		i.symbols.add(fn.Entry, fn.End-fn.Entry, fn.Name)
	}
	i.symbols.sort()
}

// linkage is the name of the stubs through which a module calls others.
const linkage = "@plt"

// addLinkage names the stubs, which would else be taken for a part of the
// function in front of them: that, _init, says no size.
func (i *image) addLinkage(f *elf.File) {
	if len(i.symbols.list) == 0 {
		return
	}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".plt") && s.Flags&elf.SHF_EXECINSTR != 0 {
			i.symbols.add(s.Addr, s.Size, linkage)
		}
	}
	i.symbols.sort()
}

// buildID returns the id that the linker gave the file, in hex, or "".
func buildID(f *elf.File) string {
	note := data(f.Section(".note.gnu.build-id"), maxNote)
	if len(note) < 16 || f.ByteOrder.Uint32(note[8:]) != noteGNUBuild {
		return ""
	}
	from := 12 + (int(f.ByteOrder.Uint32(note))+3)&^3
	n := int(f.ByteOrder.Uint32(note[4:]))
	if n > maxBuildID || from < 12 || from+n > len(note) {
		return ""
	}
	return hex.EncodeToString(note[from : from+n])
}
