package ringfollow

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tailtrace/tailtrace/internal/testenv"
)

// startContainer runs a service in pid and mount namespaces of its own, with a
// /dev/shm of its own, as a container has it.
func startContainer(t *testing.T) *service {
	t.Helper()
	testenv.Root(t)
	_, err := exec.LookPath("unshare")
	testenv.Need(t, err == nil, "unshare")
	s := startService(t, "unshare", "--pid", "--mount", "--fork", "--mount-proc",
		"sh", "-c", `mount -t tmpfs none /dev/shm && exec "$@"`, "sh")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", s.pid, s.pid))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(children), &s.pid); err != nil {
		t.Fatalf("children %q: %v", children, err)
	}
	return s
}

func TestThreadsOfAContainerAreTranslated(t *testing.T) {
	s := startContainer(t)
	s.do("open scorer 64")
	w := newWatch(t, Options{}, s.pid)
	s.do("publish 1 1 k")
	w.untilWindows(1)
	want := int32(s.pid)
	if got := w.windows[0]; got.Pid != want || got.Tid != want || got.EndTid != want || got.Points[1].Tid != want {
		t.Errorf("window %+v, want pid and tids %d", got, want)
	}
	if w.noted(fmt.Sprintf("pid %d,", s.pid)) != 1 {
		t.Errorf("notes %q, want one with the pid outside", w.notes)
	}

	s.do("publish-in-thread 2 k")
	w.untilWindows(2)
	if got := w.windows[1]; got.Tid != 0 || got.Pid != want {
		t.Errorf("window %+v of a thread that has ended, want tid 0", got)
	}
	w.close()
	if !strings.Contains(w.notes[len(w.notes)-1], "3 thread ids of threads that had ended") {
		t.Errorf("notes %q, want a count of the threads that had ended", w.notes)
	}
}
