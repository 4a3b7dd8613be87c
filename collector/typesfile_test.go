package collector

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/tailtrace/tailtrace/bpf"
)

func TestTypesFileThatIsNoneIsRefusedByItsReason(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ours, theirs := archField[runtime.GOARCH], archField[otherArch()]
	whole := someTypes(t, ours, "sched_switch")
	for _, c := range []struct{ name, path, want string }{
		{"a file that is not there", filepath.Join(dir, "gone"), "cannot be read"},
		{"a folder", dir, "no regular file"},
		{"a device", "/dev/zero", "no regular file"},
		{"nothing", file("empty", nil), "empty"},
		{"one byte", file("byte", []byte{0x9f}), "neither BTF nor"},
		{"text", file("text", []byte("#!/bin/sh\n")), "neither BTF nor"},
		{"BTF of the other byte order", file("swapped", []byte{0xeb, 0x9f, 1, 0}), "big-endian"},
		{"half of it", file("half", whole[:len(whole)/2]), "damaged"},
		{"a program", os.Args[0], "without a .BTF section"},
		{"another architecture", file("arch", someTypes(t, theirs, "sched_switch")), "they are of " + otherArch()},
		{"types of no kernel", file("none", someTypes(t, "", "")), "do not describe a kernel"},
		{"types that some program needs", file("part", someTypes(t, ours, "")), "without its tracepoints"},
		{"types that some program needs, in ELF", file("elf", elfWith(t, someTypes(t, ours, ""))), "without its tracepoints"},
	} {
		_, err := loadTypesFile(c.path)
		var refused *TypesError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestTypesFileIsBareOrInELF(t *testing.T) {
	types := someTypes(t, archField[runtime.GOARCH], "sched_switch")
	for name, content := range map[string][]byte{"bare": types, "in ELF": elfWith(t, types)} {
		path := filepath.Join(t.TempDir(), "types")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		if k, err := loadKernelTypes(path); err != nil || !k.raw() || k.switchHasState() {
			t.Errorf("%s: %+v, %v", name, k, err)
		}
	}
}

func otherArch() string {
	if runtime.GOARCH == "amd64" {
		return "arm64"
	}
	return "amd64"
}

// someTypes is BTF with a pt_regs that has one field and a tracepoint of four
// arguments, where they are named.
func someTypes(t *testing.T, field, tracepoint string) []byte {
	t.Helper()
	long := &btf.Int{Name: "long", Size: 8}
	types := []btf.Type{long}
	if field != "" {
		types = append(types, &btf.Struct{Name: "pt_regs", Size: 8, Members: []btf.Member{{Name: field, Type: long}}})
	}
	if tracepoint != "" {
		arg := btf.FuncParam{Name: "arg", Type: long}
		proto := &btf.FuncProto{Return: (*btf.Void)(nil), Params: []btf.FuncParam{arg, arg, arg, arg}}
		types = append(types, &btf.Typedef{Name: "btf_trace_" + tracepoint, Type: &btf.Pointer{Target: proto}})
	}
	b, err := btf.NewBuilder(types, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// elfWith is an ELF file that has one section: .BTF.
func elfWith(t *testing.T, types []byte) []byte {
	t.Helper()
	const names = "\x00.BTF\x00.shstrtab\x00"
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64, Shoff: 64, Shentsize: 64, Shnum: 3, Shstrndx: 2,
	}
	copy(header.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}))
	const content = 64 + 3*64
	sections := [3]elf.Section64{
		1: {Name: 1, Type: uint32(elf.SHT_PROGBITS), Off: content, Size: uint64(len(types))},
		2: {Name: 6, Type: uint32(elf.SHT_STRTAB), Off: content + uint64(len(types)), Size: uint64(len(names))},
	}
	var file bytes.Buffer
	for _, part := range []any{header, sections, types, []byte(names)} {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

func TestTypesOfAnotherKernelContradictTheThread(t *testing.T) {
	fits := bpf.RawKernelSelfFacts{Leader: 70, Threads: 5, OnCpu: 1, PidTgid: 70<<32 | 71}
	fits.ByTypes.Tid, fits.ByTypes.Tgid, fits.ByTypes.Start = 71, 70, 899e6
	copy(fits.ByTypes.Comm[:], "tailtrace\x00rest")
	copy(fits.Comm[:], "tailtrace")
	const began = 890e6 // to the tick
	if what := contradiction(&fits, began); what != "" {
		t.Errorf("what fits is refused: %s", what)
	}
	for want, spoil := range map[string]func(*bpf.RawKernelSelfFacts){
		"is thread 0 of process 70":  func(s *bpf.RawKernelSelfFacts) { s.ByTypes.Tid = 0 },
		"is thread 71 of process 71": func(s *bpf.RawKernelSelfFacts) { s.ByTypes.Tgid = 71 },
		"has the name":               func(s *bpf.RawKernelSelfFacts) { s.ByTypes.Comm[0] = 'x' },
		"process 70 is process 9":    func(s *bpf.RawKernelSelfFacts) { s.Leader = 9 },
		"began at 99000000000":       func(s *bpf.RawKernelSelfFacts) { s.ByTypes.Start = 99e9 },
		"does not have the CPU":      func(s *bpf.RawKernelSelfFacts) { s.OnCpu = 0 },
		"has 0 threads":              func(s *bpf.RawKernelSelfFacts) { s.Threads = 0 },
	} {
		s := fits
		spoil(&s)
		if what := contradiction(&s, began); !strings.Contains(what, want) {
			t.Errorf("%q, want %q", what, want)
		}
	}
}
