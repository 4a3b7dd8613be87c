package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/tailtrace/tailtrace/collector/eventfile"
)

// Pprof writes the stacks of the requests that were asked about as a gzipped
// pprof profile.
func (p *Profile) Pprof(w io.Writer) error {
	b := newPprofBuilder(p)
	b.programsFirst()
	for _, id := range slices.Sorted(maps.Keys(p.of.weights)) {
		s := &profile.Sample{Value: b.values(p.of.counts[id], p.of.weights[id])}
		for _, f := range p.frames(id) {
			s.Location = append(s.Location, b.location(&f))
		}
		b.out.Sample = append(b.out.Sample, s)
	}
	if err := b.out.CheckValid(); err != nil {
		return fmt.Errorf("build pprof profile: %w", err)
	}
	if err := b.out.Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// programsFirst has pprof take a program for the one that was profiled, and
// not the kernel.
func (b *pprofBuilder) programsFirst() {
	for _, id := range slices.Sorted(maps.Keys(b.of.weights)) {
		for _, f := range slices.Backward(b.frames(id)) {
			if !f.InKernel() {
				b.mapping(&f)
			}
		}
	}
}

type pprofBuilder struct {
	*Profile
	out       *profile.Profile
	period    int64 // ns a sample; 0: values are ns already
	mappings  map[string]*profile.Mapping
	functions map[string]*profile.Function
	locations map[eventfile.Frame]*profile.Location
}

func newPprofBuilder(p *Profile) *pprofBuilder {
	header := p.res.Header
	b := &pprofBuilder{
		Profile: p,
		out: &profile.Profile{
			TimeNanos:     int64(header.Started) + header.RealtimeOffset,
			DurationNanos: int64(p.res.End() - header.Started),
		},
		mappings: map[string]*profile.Mapping{}, functions: map[string]*profile.Function{},
		locations: map[eventfile.Frame]*profile.Location{},
	}
	if p.OffCPU {
		b.out.SampleType = []*profile.ValueType{{Type: "waits", Unit: "count"}, {Type: "off_cpu", Unit: "nanoseconds"}}
		return b
	}
	b.period = 1e9 / int64(max(header.SampleHz, 1))
	b.out.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}
	b.out.PeriodType, b.out.Period = b.out.SampleType[1], b.period
	return b
}

func (b *pprofBuilder) values(count, weight int64) []int64 {
	if b.period > 0 {
		weight *= b.period
	}
	return []int64{count, weight}
}

func (b *pprofBuilder) location(f *eventfile.Frame) *profile.Location {
	l := b.locations[*f]
	if l != nil {
		return l
	}
	l = &profile.Location{
		ID: uint64(len(b.out.Location) + 1), Address: f.Addr,
		Mapping: b.mapping(f), Line: []profile.Line{{Function: b.function(f.Name())}},
	}
	b.locations[*f] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

func (b *pprofBuilder) function(name string) *profile.Function {
	fn := b.functions[name]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: name, SystemName: name}
		b.functions[name] = fn
		b.out.Function = append(b.out.Function, fn)
	}
	return fn
}

// mapping stands for a module. Names are there already, so pprof need not
// look for the file.
func (b *pprofBuilder) mapping(f *eventfile.Frame) *profile.Mapping {
	if f.Module == "" {
		return nil
	}
	m := b.mappings[f.Module]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.out.Mapping) + 1), File: f.Module, HasFunctions: true}
		b.mappings[f.Module] = m
		b.out.Mapping = append(b.out.Mapping, m)
	}
	if m.BuildID == "" {
		m.BuildID = f.BuildID
	}
	return m
}
