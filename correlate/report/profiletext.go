package report

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

const (
	// enoughSamples is when a share is known to about ten points.
	enoughSamples = 100
	// believable is the chance below which a difference counts as one.
	believable = 0.05
	// shown is the smallest difference that is not printed as 0.0%.
	shown = 0.0005
)

// Text writes up to top functions, those first in which a request of one set
// spent the most more time than one of the other.
func (p *Profile) Text(w io.Writer, top int) error {
	out := &printer{w: w}
	out.warnings(append(p.res.Warnings[:len(p.res.Warnings):len(p.res.Warnings)], p.caveats()...))
	p.header(out)
	p.table(out, top)
	return out.err
}

// caveats say what a profile of so few samples is worth.
func (p *Profile) caveats() (list []string) {
	for _, side := range []struct {
		name   string
		stacks *profileSide
	}{{p.OfName, p.of}, {p.RestName, p.rest}} {
		n, what := side.stacks.n, "samples"
		if p.OffCPU {
			what = "waits"
		}
		switch {
		case side.stacks.requests == 0:
		case n == 0:
			list = append(list, fmt.Sprintf("no %s in %s: nothing can be said of it", what, side.name))
		case n < enoughSamples:
			list = append(list, fmt.Sprintf("only %d %s in %s: its shares are right to about %.0f points%s",
				n, what, side.name, 98/math.Sqrt(float64(n)), p.moreSamples()))
		}
		if none := side.stacks.weights[0]; none > 0 {
			list = append(list, fmt.Sprintf("%.1f%% of %s was without a stack", 100*side.stacks.share(none), side.name))
		}
	}
	return list
}

func (p *Profile) moreSamples() string {
	if p.OffCPU {
		return ""
	}
	return "; record for longer, or with a higher --sample"
}

func (p *Profile) header(out *printer) {
	line := func(name string, s *profileSide) {
		if s.requests == 0 {
			return
		}
		if p.OffCPU {
			out.printf("%s: %s in %d waits of %d requests, %s a request\n", name, Duration(s.sum), s.n, s.requests, Duration(s.sum/int64(s.requests)))
			return
		}
		out.printf("%s: %d samples in %d requests, about %s a request\n", name, s.n, s.requests, Duration(p.perRequest(s, s.sum)))
	}
	if p.OffCPU {
		out.printf("off the CPU, blocked, inside the requests\n")
	} else {
		out.printf("on the CPU inside the requests, %d samples a second\n", p.res.Header.SampleHz)
	}
	line(p.OfName, p.of)
	line(p.RestName, p.rest)
	out.printf("\n")
}

// perRequest is the time behind a weight, ns for each request of its side.
func (p *Profile) perRequest(s *profileSide, weight int64) int64 {
	ns := s.each(weight)
	if !p.OffCPU {
		ns *= 1e9 / float64(max(p.res.Header.SampleHz, 1))
	}
	return int64(ns)
}

func (p *Profile) table(out *printer, top int) {
	lines := []string{p.titles()}
	doubtful := false
	for i := range p.Functions {
		if i == top {
			lines = append(lines, fmt.Sprintf("  ...\t%d more", len(p.Functions)-i))
			break
		}
		f := &p.Functions[i]
		mark := ""
		if d, _, _ := p.difference(f); d >= shown && f.Chance > believable {
			mark, doubtful = " ~", true
		}
		lines = append(lines, p.line(f, mark))
	}
	out.table(lines)
	if doubtful && p.rest.requests > 0 {
		out.printf("~ so large a difference of shares comes about by chance too (Fisher's test on samples as if independent, 5%%)\n")
	}
}

func (p *Profile) titles() string {
	if p.rest.requests == 0 {
		return "self\ttotal\ta request\tfunction"
	}
	of, rest := strings.TrimPrefix(p.OfName, "the "), strings.TrimPrefix(p.RestName, "the ")
	return fmt.Sprintf("self %s\t%s\tdiff\ttotal %s\t%s\tdiff\ta request %s\t%s\tfunction", of, rest, of, rest, of, rest)
}

func (p *Profile) line(f *Function, mark string) string {
	name := Printable(f.Name)
	if module := Printable(path.Base(f.Module)); f.Module != "" && !strings.HasPrefix(name, module) {
		name += "  " + module
	}
	each := Duration(p.perRequest(p.of, f.Of.Total))
	if p.rest.requests == 0 {
		return fmt.Sprintf("%5.1f%%\t%5.1f%%\t%s\t%s", 100*p.of.share(f.Of.Self), 100*p.of.share(f.Of.Total), each, name)
	}
	shares := func(of, rest int64) string {
		a, b := 100*p.of.share(of), 100*p.rest.share(rest)
		return fmt.Sprintf("%5.1f%%\t%5.1f%%\t%+5.1f", a, b, a-b)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s%s", shares(f.Of.Self, f.Rest.Self), shares(f.Of.Total, f.Rest.Total),
		each, Duration(p.perRequest(p.rest, f.Rest.Total)), name, mark)
}
