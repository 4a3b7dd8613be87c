package ringfollow

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// service is a Python process that publishes on command.
type service struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	pid int // as the test sees it
}

// startService runs the publisher, under the command given if any.
func startService(t *testing.T, under ...string) *service {
	t.Helper()
	_, err := exec.LookPath("/usr/bin/python3")
	testenv.Need(t, err == nil, "python3")
	for _, source := range []string{"testdata/publisher.py", "../../ring/python/tailtrace_ring.py"} {
		if _, err := os.ReadFile(source); err != nil { // a change in them runs the test again
			t.Fatal(err)
		}
	}
	args := append(under, "/usr/bin/python3", "testdata/publisher.py")
	s := &service{t: t, cmd: exec.Command(args[0], args[1:]...)}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	s.pid = s.cmd.Process.Pid
	t.Cleanup(s.stop)
	s.expect("ok")
	return s
}

func (s *service) stop() {
	s.in.Close()
	s.cmd.Wait()
}

func (s *service) kill() {
	s.t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Wait()
	os.Remove(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", s.pid))
}

func (s *service) do(format string, args ...any) {
	s.t.Helper()
	s.send(format, args...)
	s.expect("ok")
}

func (s *service) send(format string, args ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.in, format+"\n", args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) expect(want string) {
	s.t.Helper()
	if got := s.answer(); got != want {
		s.t.Fatalf("service answers %q, want %q", got, want)
	}
}

func (s *service) answer() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("service: %v", err)
	}
	return strings.TrimSpace(line)
}

// watch is a follower and what it has given so far.
type watch struct {
	t       *testing.T
	f       *Follower
	windows []eventfile.Window
	losses  []eventfile.Loss
	notes   []string
}

func newWatch(t *testing.T, opt Options, pids ...int) *watch {
	w := &watch{t: t}
	opt.Info = w.note
	w.f = New(func() []int { return pids }, opt)
	t.Cleanup(w.close)
	return w
}

func (w *watch) emit(win *eventfile.Window) {
	c := *win
	c.Points = append([]eventfile.Point(nil), win.Points...)
	w.windows = append(w.windows, c)
}

func (w *watch) lost(l eventfile.Loss) { w.losses = append(w.losses, l) }
func (w *watch) note(s string)         { w.notes = append(w.notes, s) }
func (w *watch) poll()                 { w.f.Poll(w.emit, w.lost, w.note) }
func (w *watch) close()                { w.f.Close(w.emit, w.lost, w.note) }

// until polls as the collector does until done holds.
func (w *watch) until(what string, done func() bool) {
	w.t.Helper()
	for range 200 {
		w.poll()
		if done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Fatalf("%s: not within 10 s; notes %q, %d windows", what, w.notes, len(w.windows))
}

func (w *watch) untilNote(part string) {
	w.t.Helper()
	w.until("note with "+part, func() bool { return w.noted(part) > 0 })
}

func (w *watch) untilWindows(n int) {
	w.t.Helper()
	w.until(fmt.Sprintf("%d windows", n), func() bool { return len(w.windows) >= n })
}

// noted counts the notes that contain part.
func (w *watch) noted(part string) (n int) {
	for _, note := range w.notes {
		if strings.Contains(note, part) {
			n++
		}
	}
	return n
}

// ids returns the ids of the windows so far, which are numbers.
func (w *watch) ids() []int {
	var ids []int
	for _, win := range w.windows {
		ids = append(ids, int(win.ID.Bytes[0])|int(win.ID.Bytes[1])<<8)
	}
	return ids
}
