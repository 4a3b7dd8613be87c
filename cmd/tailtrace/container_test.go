package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/internal/testenv"
)

// ownShm makes publish mount a /dev/shm of its own first.
const ownShm = "TAILTRACE_TEST_OWN_SHM"

func mountShm() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to itself: %w", err)
	}
	return unix.Mount("tmpfs", "/dev/shm", "tmpfs", 0, "")
}

// startContainer starts the service as root of namespaces of its own.
func (i *itself) startContainer(t *testing.T) (pid int) {
	t.Helper()
	cmd := i.command("publish")
	cmd.Env = append(os.Environ(), ownShm+"=1")
	root := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100_000, Size: 1000}}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS,
		UidMappings: root, GidMappings: root,
		Credential: &syscall.Credential{},
	}
	return start(t, cmd)
}

func TestServiceInAContainerIsRecordedByItsPidOutside(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	pid := self.startContainer(t)
	if _, err := os.Stat(fmt.Sprintf("/dev/shm/tailtrace-%d.ring", pid)); err == nil {
		t.Fatal("the service's ring is in this namespace")
	}
	rec := self.recordAsRoot(t, pid)
	if len(rec.windows) == 0 {
		t.Fatalf("no windows; the notes are %q", rec.notes)
	}
	inside := map[int32]bool{}
	for _, e := range rec.tasks {
		if e.Tgid == int32(pid) {
			inside[e.Tid] = true
		}
	}
	for _, w := range rec.windows {
		if w.Pid != int32(pid) || !inside[w.Tid] || !inside[w.EndTid] {
			t.Fatalf("window %+v is not of a thread of process %d, which are %v", w, pid, inside)
		}
	}
}

func TestCgroupOfAServiceIsNamed(t *testing.T) {
	testenv.Root(t)
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		v1 := f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",cpu,")
		if f[2] != "cgroup2" && !v1 {
			continue
		}
		seen = true
		t.Run(f[2], func(t *testing.T) {
			name := fmt.Sprintf("tailtrace-test-%d", os.Getpid())
			group := filepath.Join(f[1], name)
			testenv.Need(t, os.Mkdir(group, 0o755) == nil, "a cgroup of its own")
			t.Cleanup(func() { os.Remove(group) }) // after the service has ended
			self := newItself(t)
			pid := self.startPublisher(t)
			if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Append(nil, pid), 0); err != nil {
				t.Fatal(err)
			}
			rec := self.recordAsRoot(t, pid)
			if got := rec.header.Targets[0].Cgroup; got != "/"+name {
				t.Errorf("the service is in cgroup %q, want %q", got, "/"+name)
			}
		})
	}
	if !seen {
		t.Error("no cgroups are mounted")
	}
}

// contents is what these tests look at in a recording.
type contents struct {
	header  *eventfile.Header
	windows []eventfile.Window
	tasks   []eventfile.Event
	notes   []string
}

func (i *itself) recordAsRoot(t *testing.T, pid int) *contents {
	t.Helper()
	cmd := i.command("tailtrace", "-pid", fmt.Sprint(pid), "-out", "events.bin", "--duration", "2s")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("record: %v\n%s", err, out)
	}
	f, err := os.Open(filepath.Join(i.dir, "events.bin"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := eventfile.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	c := &contents{header: r.Header()}
	for r.Next() {
		if e := r.Event(); e != nil {
			if e.Kind == eventfile.KindTask {
				c.tasks = append(c.tasks, *e)
			}
			continue
		}
		switch m := r.Meta().(type) {
		case *eventfile.Window:
			c.windows = append(c.windows, *m)
		case *eventfile.Note:
			c.notes = append(c.notes, m.Text)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}
