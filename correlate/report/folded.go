package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Folded writes the stacks of the requests that were asked about, one a line,
// the outermost call first, as flamegraph.pl takes them. The number is of
// samples, or of ns off the CPU.
func (p *Profile) Folded(w io.Writer) error {
	sums := map[string]int64{}
	for id, n := range p.of.weights {
		var names []string
		for _, f := range slices.Backward(p.frames(id)) {
			names = append(names, foldedName(&f))
		}
		sums[strings.Join(names, ";")] += n
	}
	out := bufio.NewWriter(w)
	for _, line := range slices.SortedFunc(maps.Keys(sums), cmp.Compare[string]) {
		fmt.Fprintf(out, "%s %d\n", line, sums[line])
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// foldedName marks calls of the kernel, which flame graphs color, and leaves
// nothing in a name that would split it.
func foldedName(f *eventfile.Frame) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case unicode.IsSpace(r), unicode.IsControl(r), r == unicode.ReplacementChar:
			return '_'
		}
		return r
	}, f.Name())
	if f.InKernel() {
		name += "_[k]"
	}
	return name
}
