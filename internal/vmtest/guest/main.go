// Command guest is the first process of a virtual machine of package vmtest.
// It makes the system ready, runs the one program that the guest is for, says
// how that ended, and turns the machine off.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

func main() {
	if filepath.Base(os.Args[0]) == "true" {
		return
	}
	err := guest()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vmtest:", err) // on the console; the missing end says the rest
	}
	unix.Sync()
	unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func guest() error {
	if err := mountAll(); err != nil {
		return err
	}
	port, err := openPort()
	if err != nil {
		return err
	}
	if err := makeReady(); err != nil {
		return err
	}
	text, err := os.ReadFile(vmtest.JobPath)
	if err != nil {
		return err
	}
	var job vmtest.Job
	if err := json.Unmarshal(text, &job); err != nil {
		return err
	}
	code, err := runJob(&job, port)
	if err != nil {
		return err
	}
	if job.Results != "" {
		if err := saveResults(job.Results); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(port, "%s%d\n", vmtest.EndMark, code); err != nil {
		return err
	}
	return unix.IoctlSetInt(int(port.Fd()), unix.TCSBRK, 1) // wait until it is out
}

// runJob returns the exit code of the job's program. It takes in the orphans
// as they end, as the first process must.
func runJob(job *vmtest.Job, port *os.File) (code int, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(job.Args[0], job.Args, &syscall.ProcAttr{
		Dir:   job.Dir,
		Env:   job.Env,
		Files: []uintptr{null.Fd(), port.Fd(), port.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("run %s: %w", job.Args[0], err)
	}
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR || got != pid:
		case err != nil:
			return 0, err
		case status.Signaled():
			return 128 + int(status.Signal()), nil
		case status.Exited():
			return status.ExitStatus(), nil
		}
	}
}
