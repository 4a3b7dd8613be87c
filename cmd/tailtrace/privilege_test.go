package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/testenv"
	"github.com/tailtrace/tailtrace/ring"
)

// capabilities by name, as in a systemd unit.
var capabilities = map[string]uintptr{
	"CAP_DAC_READ_SEARCH": unix.CAP_DAC_READ_SEARCH,
	"CAP_SYS_PTRACE":      unix.CAP_SYS_PTRACE,
	"CAP_SYS_RESOURCE":    unix.CAP_SYS_RESOURCE,
	"CAP_PERFMON":         unix.CAP_PERFMON,
	"CAP_BPF":             unix.CAP_BPF,
}

// unitCapabilities are those that the systemd unit gives.
func unitCapabilities(t *testing.T) []string {
	t.Helper()
	unit, err := os.ReadFile("../../packaging/tailtrace@.service")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(unit)) {
		if list, ok := strings.CutPrefix(line, "AmbientCapabilities="); ok {
			return strings.Fields(list)
		}
	}
	t.Fatal("the unit gives no capabilities")
	return nil
}

// ownedUnitCapabilities leaves out what this process has not got to pass on:
// root in a container may lack CAP_SYS_RESOURCE, which recent kernels do not
// ask for.
func ownedUnitCapabilities(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(unitCapabilities(t), func(c string) bool {
		return c == "CAP_SYS_RESOURCE" && !has(t, capabilities[c])
	})
}

// has reports whether this process has a capability to pass on.
func has(t *testing.T, capability uintptr) bool {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// publish is a service of its own: a request every few milliseconds until its
// input ends.
func publish() {
	if os.Getenv(ownShm) != "" {
		if err := mountShm(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	p, err := ring.Create(ring.Options{Service: "published"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer p.Close()
	kind := p.Name("request")
	fmt.Println("ready")
	go func() {
		for id := uint64(1); ; id++ {
			p.Begin(id, kind).End()
			time.Sleep(5 * time.Millisecond)
		}
	}()
	io.Copy(io.Discard, os.Stdin)
}

// itself is this program where every user may run it, as tailtrace or as
// another of the commands that TestMain knows.
type itself struct{ path, dir string }

func newItself(t *testing.T) *itself {
	t.Helper()
	dir, err := os.MkdirTemp("", "tailtrace-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	i := &itself{path: filepath.Join(dir, "program"), dir: dir}
	if err := os.WriteFile(i.path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return i
}

func (i *itself) command(name string, args ...string) *exec.Cmd {
	return &exec.Cmd{Path: i.path, Args: append([]string{name}, args...), Dir: i.dir}
}

// startPublisher starts the service, as root.
func (i *itself) startPublisher(t *testing.T) (pid int) {
	t.Helper()
	return start(t, i.command("publish"))
}

// start returns once the service is ready.
func start(t *testing.T, cmd *exec.Cmd) (pid int) {
	t.Helper()
	startTold(t, cmd)
	return cmd.Process.Pid
}

// startTold is start of a service that goes by what it reads.
func startTold(t *testing.T, cmd *exec.Cmd) io.Writer {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || said != "ready\n" {
		t.Fatalf("the service says %q, %v", said, err)
	}
	return in
}

// record records pid as a user with no rights but caps.
func (i *itself) record(t *testing.T, pid int, caps ...string) (code int, said string) {
	t.Helper()
	cmd := i.command("tailtrace", "-pid", fmt.Sprint(pid), "-out", "events.bin", "--force", "--duration", "2s")
	const nobody = 65534
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for _, c := range caps {
		number, ok := capabilities[c]
		if !ok {
			t.Fatalf("unknown capability %s", c)
		}
		cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, number)
	}
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func TestPrivilegesOfTheUnitAreEnoughAndEachIsNeeded(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	pid := self.startPublisher(t)
	setPerfParanoia(t, "2")
	all := ownedUnitCapabilities(t)
	code, said := self.record(t, pid, all...)
	if code != exitDone || strings.Contains(said, "no request windows") || lacks(said, "not observed") {
		t.Errorf("with the unit's capabilities: exit code %d:\n%s", code, said)
	}
	for _, missing := range all {
		rest := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return c == missing })
		code, said := self.record(t, pid, rest...)
		switch {
		case missing == "CAP_SYS_RESOURCE" && code == exitDone: // it is needed before 5.11 only
		case missing == "CAP_DAC_READ_SEARCH":
			if code != exitDone || !strings.Contains(said, missing) || !strings.Contains(said, "no request windows") {
				t.Errorf("without %s: exit code %d:\n%s", missing, code, said)
			}
		case code != exitFailed || !strings.Contains(said, missing) || !strings.Contains(said, "hint: "):
			t.Errorf("without %s: exit code %d:\n%s", missing, code, said)
		}
	}
}

func TestUserWithoutPrivilegesIsToldAllThatIsMissing(t *testing.T) {
	testenv.Root(t)
	self := newItself(t)
	code, said := self.record(t, os.Getpid())
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, c := range []string{"CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"} {
		if !strings.Contains(said, c) {
			t.Errorf("%s is not named:\n%s", c, said)
		}
	}
}
