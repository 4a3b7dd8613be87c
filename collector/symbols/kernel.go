package symbols

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	kernelName  = "[kernel]"
	maxKallsyms = 64 << 20
)

// readKernel reads the kernel's functions; none where it hides them.
func readKernel() *table {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return &table{}
	}
	defer f.Close()
	return parseKallsyms(f)
}

// parseKallsyms takes lines such as
//
//	ffffffff81000000 T _stext
//	ffffffffc0300000 t nf_hook	[nf_tables]
func parseKallsyms(r io.Reader) *table {
	t := &table{}
	lines := bufio.NewScanner(io.LimitReader(r, maxKallsyms))
	for lines.Scan() {
		hex, rest, _ := bytes.Cut(lines.Bytes(), []byte{' '})
		kind, name, ok := bytes.Cut(rest, []byte{' '})
		if !ok || len(kind) != 1 || !strings.ContainsRune("tTwW", rune(kind[0])) {
			continue
		}
		addr, err := strconv.ParseUint(string(hex), 16, 64)
		if err != nil || addr == 0 {
			continue
		}
		t.list = append(t.list, symbol{addr: addr, name: uint32(len(t.names))})
		t.names = append(append(t.names, name...), 0)
	}
	t.sort()
	return t
}

// kernelSymbol splits what kallsyms has into the function and its module.
func kernelSymbol(text string) (name, module string) {
	name, module, ok := strings.Cut(text, "\t")
	if !ok {
		module = kernelName
	}
	return name, module
}

// ownFrames is how many of the innermost frames of a kernel stack are of
// what took it: the way from the tracepoint into the BPF program, which has
// another length on every kernel.
func ownFrames(names []string) int {
	own := 0
	for i, n := range names[:min(len(names), maxOwnFrames)] {
		for _, prefix := range []string{"bpf_", "__bpf_", "___bpf_", "__traceiter_"} {
			if strings.HasPrefix(n, prefix) {
				own = i + 1
			}
		}
	}
	return own
}

const maxOwnFrames = 8
