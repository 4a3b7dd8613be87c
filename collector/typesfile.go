package collector

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/cilium/ebpf/btf"
)

// TypesError says why a file is not the type information of this kernel.
type TypesError struct {
	File string
	Why  string
	Err  error // how that showed; may be nil
}

func (e *TypesError) Error() string {
	text := fmt.Sprintf("use the kernel types in %s: %s", e.File, e.Why)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *TypesError) Unwrap() error { return e.Err }

// loadTypesFile reads BTF from a file: bare, as pahole and BTFhub have it, or
// in an ELF file such as a vmlinux.
func loadTypesFile(path string) (*btf.Spec, error) {
	refuse := func(why string, err error) (*btf.Spec, error) {
		return nil, &TypesError{path, why, err}
	}
	info, err := os.Stat(path)
	if err != nil {
		return refuse("it cannot be read", err)
	}
	if !info.Mode().IsRegular() {
		return refuse("it is no regular file", nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse("it cannot be read", err)
	}
	defer f.Close()
	raw, why, err := rawTypes(f)
	if why != "" {
		return refuse(why, err)
	}
	spec, err := btf.LoadSpecFromReader(raw)
	if err != nil {
		return refuse("its BTF is damaged, or that of a module", err)
	}
	if why := (kernelTypes{spec: spec, file: path}).notOurs(); why != "" {
		return refuse(why, nil)
	}
	return spec, nil
}

// rawTypes finds the BTF in a file, or says why there is none: by the first
// bytes, since the file may be of any size.
func rawTypes(f io.ReaderAt) (raw io.ReaderAt, why string, err error) {
	var magic [4]byte
	n, err := f.ReadAt(magic[:], 0)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil, "it is empty", nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, "it cannot be read", err
	case string(magic[:2]) == "\x9f\xeb":
		return f, "", nil
	case string(magic[:2]) == "\xeb\x9f":
		return nil, "it is of a big-endian machine", nil
	case string(magic[:]) != elf.ELFMAG:
		return nil, "it is neither BTF nor an ELF file; compressed ones must be unpacked", nil
	}
	file, err := elf.NewFile(f)
	if err != nil {
		return nil, "it is a damaged ELF file", err
	}
	section := file.Section(".BTF")
	if section == nil {
		return nil, "it is an ELF file without a .BTF section", nil
	}
	content, err := section.Data()
	if err != nil {
		return nil, "its .BTF section cannot be read", err
	}
	return bytes.NewReader(content), "", nil
}

// archField is a field of struct pt_regs that only one architecture has.
var archField = map[string]string{"amd64": "orig_ax", "arm64": "syscallno"}

// notOurs says why k cannot describe the running kernel, or returns "". Types
// of another kernel of this architecture pass.
func (k kernelTypes) notOurs() string {
	if !k.hasField("pt_regs", archField[runtime.GOARCH]) {
		for arch, field := range archField {
			if k.hasField("pt_regs", field) {
				return fmt.Sprintf("they are of %s, and this machine is %s", arch, runtime.GOARCH)
			}
		}
		return "they do not describe a kernel of " + runtime.GOARCH + ", or only parts of one"
	}
	if _, ok := k.tracepoint("sched_switch"); !ok {
		return "they describe only parts of a kernel, without its tracepoints"
	}
	return ""
}
