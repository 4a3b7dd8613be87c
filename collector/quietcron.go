package collector

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cronDaemons are the commands of the daemons that run crontabs.
var cronDaemons = []string{"cron", "crond", "fcron", "anacron"}

// cron looks for a daemon, for jobs that it runs, and for jobs that are due
// within the time. at jobs are not looked for.
func (m machine) cron(within time.Duration) Condition {
	c := Condition{Name: "cron", Value: "not running"}
	daemon, running := m.cronProcesses()
	if daemon == "" {
		return c
	}
	jobs, unread := m.cronJobs()
	var due []string
	for _, j := range jobs {
		if at, ok := j.next(m.now, within); ok {
			due = append(due, fmt.Sprintf("%s at %s (%s)", j.command, at.Format("15:04"), j.file))
		}
	}
	c.Value = fmt.Sprintf("%s runs; %d of %d jobs due within %v", daemon, len(due), len(jobs), within)
	if len(unread) > 0 {
		c.Value += "; not readable: " + firstOf(unread, 2)
	}
	var why []string
	if len(running) > 0 {
		why = append(why, "runs "+firstOf(running, 3))
	}
	if len(due) > 0 {
		why = append(why, "due: "+firstOf(due, 3))
	}
	if len(why) > 0 {
		c.Broken, c.Fix = strings.Join(why, "; "), "systemctl stop "+daemon
	}
	return c
}

// cronProcesses finds a daemon and what it started.
func (m machine) cronProcesses() (daemon string, running []string) {
	daemons := map[int]bool{}
	procs := maps.Collect(processes(m.path("proc")))
	for pid, p := range procs {
		if slices.Contains(cronDaemons, p.comm) {
			daemons[pid] = true
			daemon = p.comm
		}
	}
	for pid, p := range procs {
		if daemons[p.parent] { // a job, or the daemon's copy that waits for one
			running = append(running, fmt.Sprintf("%s[%d]", p.comm, pid))
		}
	}
	slices.Sort(running)
	return daemon, running
}

// cronJob is a line of a crontab.
type cronJob struct {
	schedule
	command string
	file    string
}

// cronJobs reads the system's crontabs, which name a user, and the users', which
// do not.
func (m machine) cronJobs() (jobs []cronJob, unread []string) {
	read := func(pattern string, user bool) {
		files, _ := filepath.Glob(m.path(pattern))
		for _, f := range files {
			name := filepath.Base(f)
			if user && strings.ContainsAny(name, ".~") { // cron passes over these too
				continue
			}
			if info, err := os.Stat(f); err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				unread = append(unread, name)
				continue
			}
			jobs = append(jobs, parseCrontab(string(text), name, user)...)
		}
	}
	read("etc/crontab", true)
	read("etc/cron.d/*", true)
	read("var/spool/cron/*", false)
	read("var/spool/cron/crontabs/*", false)
	if _, err := os.ReadDir(m.path("var/spool/cron/crontabs")); os.IsPermission(err) {
		unread = append(unread, "crontabs of users")
	}
	return jobs, unread
}

// parseCrontab passes over settings, comments and what it does not understand.
func parseCrontab(text, file string, user bool) (jobs []cronJob) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		times := 5
		if strings.HasPrefix(fields[0], "@") {
			times = 1
		}
		rest := times
		if user {
			rest++
		}
		if len(fields) <= rest {
			continue
		}
		s, ok := parseSchedule(fields[:times])
		if !ok {
			continue
		}
		command := fields[rest]
		if len(fields) > rest+1 {
			command += " " + fields[rest+1]
		}
		jobs = append(jobs, cronJob{s, command, file})
	}
	return jobs
}
