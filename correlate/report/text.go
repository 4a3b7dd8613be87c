package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tailtrace/tailtrace/correlate/stats"
)

// maxWorst is how many of the slowest requests the text lists.
const maxWorst = 10

// Text writes the report for a person: what to be careful of first, then how
// slow it was, why, and the worst requests one by one.
func (x *Explain) Text(w io.Writer) error {
	p := &printer{w: w}
	p.warnings(x.Warnings)
	p.latency(x)
	p.verdicts(x)
	p.attributes(x.Attributes, maxAttributes)
	p.brief(x.Stats)
	p.worst(x)
	return p.err
}

// printer remembers the first error of its writer.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table aligns tab-separated lines; all columns but those of text are to the
// right.
func (p *printer) table(lines []string) {
	if p.err != nil {
		return
	}
	var text strings.Builder
	tw := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintln(tw, l)
	}
	tw.Flush() // a strings.Builder takes everything
	for l := range strings.Lines(text.String()) {
		p.printf("%s\n", strings.TrimRight(l, " \n"))
	}
}

func (p *printer) warnings(list []string) {
	if len(list) == 0 {
		return
	}
	p.printf("before you read on\n")
	for _, w := range list {
		p.printf("  - %s\n", w)
	}
	p.printf("\n")
}

func (p *printer) latency(x *Explain) {
	p.printf("requests  %d", x.N)
	if x.Joined > 0 {
		p.printf(", %d rows joined with their windows", x.Joined)
	} else {
		p.printf(" windows (no rows given: times are the service's own)")
	}
	if x.Warmup > 0 {
		p.printf(", %d warm-up requests left out", x.Warmup)
	}
	p.printf(", %d errors (%.2f%%)\n", x.Errors, 100*float64(x.Errors)/float64(max(x.N, 1)))
	p.briefLatency(x)
	p.printf("tail      the slowest %.3g%% of each run: %d requests, from %s up\n\n", 100*x.Tail.Fraction, x.Tail.Count, Duration(x.Tail.Threshold))
}

func (p *printer) verdicts(x *Explain) {
	without := map[string]string{}
	for _, w := range x.WhatIf {
		without[w.Verdict] = fmt.Sprintf("%s, %s", Duration(w.P99), Duration(w.P999))
	}
	lines := []string{"why the tail is slow\trequests\tshare\twithout it*\t"}
	for _, v := range x.Verdicts {
		lines = append(lines, fmt.Sprintf("  %s\t%8d\t%5.1f%%\t%s\t%s", Printable(v.Verdict), v.Count, 100*v.Share, without[v.Verdict], meaning(v.Verdict)))
	}
	p.table(lines)
	p.printf("* p99 and p99.9 if the excess of that cause alone were gone: arithmetic, not a promise\n\n")
}

func (p *printer) attributes(list []stats.Attribute, most int) {
	lines := []string{"what requests had\tin the tail\tin all\tratio\tp"}
	shown := fewest(list, most)
	for _, a := range shown {
		lines = append(lines, fmt.Sprintf("  %s\t%10.1f%%\t%5.1f%%\t%5.1f\t%.2g", Printable(a.Name), 100*a.TailShare, 100*a.AllShare, a.Ratio, a.P))
	}
	p.table(lines)
	if more := len(list) - len(shown); more > 0 {
		p.printf("  and %d more, with a higher p\n", more)
	}
	p.printf("\n")
}

func (p *printer) worst(x *Explain) {
	list := slowest(x.Requests, maxWorst)
	if len(list) == 0 {
		return
	}
	lines := []string{"the slowest\tlatency\tverdict\tbecause"}
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("  %s\t%s\t%s\t%s", Printable(fmt.Sprint(r.ID)), Duration(r.Latency), Printable(r.Verdict), Culprit(r)))
	}
	p.table(lines)
}
