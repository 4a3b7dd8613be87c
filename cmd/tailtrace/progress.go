package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector"
)

// liveLine keeps one line on a terminal up to date; elsewhere it shows nothing
// but messages.
type liveLine struct {
	w     io.Writer
	tty   bool
	shown bool
	last  collector.Progress
}

func newLiveLine(w io.Writer) *liveLine {
	return &liveLine{w: w, tty: isTerminal(w)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (l *liveLine) show(p collector.Progress) {
	if !l.tty {
		return
	}
	l.shown = true
	fmt.Fprintf(l.w, "\r\033[K%s  %s events  %s windows  %d lost  %s  own cpu %.1f%%",
		p.Elapsed.Round(time.Second), count(p.Events), count(p.Windows), p.Lost, bytesText(p.Bytes), l.cpuSince(p))
	l.last = p
}

// cpuSince is the recorder's own use of one CPU since the line was last shown,
// in percent.
func (l *liveLine) cpuSince(p collector.Progress) float64 {
	elapsed := p.Elapsed - l.last.Elapsed
	if elapsed <= 0 {
		return 0
	}
	return 100 * float64(p.AgentCPU-l.last.AgentCPU) / float64(elapsed)
}

func (l *liveLine) log(message string) {
	l.clear()
	fmt.Fprintf(l.w, "tailtrace: %s\n", message)
}

func (l *liveLine) clear() {
	if l.shown {
		fmt.Fprint(l.w, "\r\033[K")
		l.shown = false
	}
}

func (l *liveLine) end() { l.clear() }

// count shortens large numbers.
func count(n uint64) string {
	switch {
	case n < 100_000:
		return fmt.Sprint(n)
	case n < 100_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

func bytesText(n uint64) string {
	switch {
	case n < 100<<10:
		return fmt.Sprintf("%d B", n)
	case n < 100<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// printSummary says what a recording holds, and what it lacks.
func printSummary(s streams, out string, sum *collector.Summary) {
	fmt.Fprintf(s.err, "tailtrace: recorded %s (%s): %d events, %d windows, %s in %s, own cpu %.1f%%\n",
		sum.Elapsed.Round(time.Millisecond), sum.Reason, sum.Events, sum.Windows, bytesText(sum.Bytes), out,
		100*sum.AgentCPU.Seconds()/max(sum.Elapsed.Seconds(), 1e-9))
	if sum.Lost > 0 {
		fmt.Fprintf(s.err, "tailtrace: warning: %d lost; explain says when\n", sum.Lost)
	}
	for _, h := range sum.Hooks {
		if h.How == "" {
			fmt.Fprintf(s.err, "tailtrace: warning: not observed: %s (%s): %s\n", h.Name, h.Why, h.Lost)
		}
	}
	if sum.Windows == 0 {
		fmt.Fprintln(s.err, "tailtrace: warning: no request windows: the service published none while recording")
	}
}
