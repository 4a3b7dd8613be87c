package collector

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// sessions counts who is logged in beside the user of this process: by logind,
// or where there is none, by utmp.
func (m machine) sessions() Condition {
	c := Condition{Name: "sessions"}
	list, ok := m.logindSessions()
	if !ok {
		list, ok = m.utmpSessions()
	}
	if !ok {
		c.Value = "not known: neither logind nor utmp"
		return c
	}
	own := 0
	var others []string
	for _, s := range list {
		if s.own {
			own++
		} else {
			others = append(others, s.who)
		}
	}
	c.Value = fmt.Sprintf("%d others", len(others))
	if own > 0 {
		c.Value = "your own and " + c.Value
	}
	if len(others) > 0 {
		c.Broken, c.Fix = "logged in: "+firstOf(others, 3), "ask them to wait"
	}
	return c
}

// login is somebody who is logged in; own is the login of this process.
type login struct {
	who string
	own bool
}

// logindSessions reads logind's session files, which loginctl shows.
func (m machine) logindSessions() (list []login, ok bool) {
	files, err := os.ReadDir(m.path("run/systemd/sessions"))
	if err != nil {
		return nil, false
	}
	own := m.text("proc/self/sessionid")
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".ref") { // a pipe beside the file
			continue
		}
		v := keyValues(m.text("run/systemd/sessions/" + f.Name()))
		if !strings.HasPrefix(v["CLASS"], "user") || v["STATE"] == "closing" {
			continue
		}
		list = append(list, login{who(v["USER"], v["TTY"], v["REMOTE_HOST"]), f.Name() == own})
	}
	return list, true
}

func keyValues(text string) map[string]string {
	v := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = value
	}
	return v
}

func who(user, tty, host string) string {
	text := user
	if tty != "" {
		text += " on " + tty
	}
	if host != "" {
		text += " from " + host
	}
	return text
}

// utmpRecord is a record of /run/utmp as glibc writes it (struct utmp). Its
// last fields are longer where time has 64 bits in it.
var utmpRecord = map[string]int{"amd64": 384, "arm64": 400}[runtime.GOARCH]

// userProcess is the type of a record of somebody logged in (USER_PROCESS).
const userProcess = 7

func (m machine) utmpSessions() (list []login, ok bool) {
	data, err := os.ReadFile(m.path("run/utmp"))
	if err != nil || utmpRecord == 0 {
		return nil, false
	}
	ancestors := m.ancestors(os.Getpid())
	for ; len(data) >= utmpRecord; data = data[utmpRecord:] {
		pid := int(int32(binary.NativeEndian.Uint32(data[4:])))
		if binary.NativeEndian.Uint16(data) != userProcess || !m.lives(pid) {
			continue
		}
		text := func(from, length int) string { return unix.ByteSliceToString(data[from : from+length]) }
		list = append(list, login{who(text(44, 32), text(8, 32), text(76, 256)), ancestors[pid]})
	}
	return list, true
}

func (m machine) lives(pid int) bool {
	_, err := os.Stat(m.path(filepath.Join("proc", strconv.Itoa(pid))))
	return err == nil
}

// ancestors are a process and those that it comes from.
func (m machine) ancestors(pid int) map[int]bool {
	list := map[int]bool{}
	for pid > 0 && !list[pid] {
		list[pid] = true
		p, ok := parseProcStat(m.text(fmt.Sprintf("proc/%d/stat", pid)))
		if !ok {
			break
		}
		pid = p.parent
	}
	return list
}
