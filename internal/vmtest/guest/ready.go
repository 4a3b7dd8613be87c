package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tailtrace/tailtrace/internal/vmtest"
)

// mountAll mounts what any Linux system has.
func mountAll() error {
	for _, m := range []struct{ kind, dir, options string }{
		{"proc", "/proc", ""},
		{"sysfs", "/sys", ""},
		{"devtmpfs", "/dev", ""},
		{"tmpfs", "/dev/shm", ""},
		{"tmpfs", "/tmp", ""},
		{"tmpfs", "/run", ""},
		{"tracefs", "/sys/kernel/tracing", ""},
		{"securityfs", "/sys/kernel/security", ""},
		{"cgroup2", "/sys/fs/cgroup", ""},
	} {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.dir, m.kind, 0, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.dir, err)
		}
	}
	return os.WriteFile("/sys/fs/cgroup/cgroup.subtree_control", []byte("+cpu +memory"), 0)
}

// openPort opens the serial line that the kernel's command line names, so
// that bytes pass through it as they are.
func openPort() (*os.File, error) {
	cmdline, err := os.ReadFile("/proc/cmdline")
	if err != nil {
		return nil, err
	}
	for word := range strings.FieldsSeq(string(cmdline)) {
		path, ok := strings.CutPrefix(word, vmtest.PortOption)
		if !ok {
			continue
		}
		port, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			return nil, err
		}
		t, err := unix.IoctlGetTermios(int(port.Fd()), unix.TCGETS)
		if err != nil {
			return nil, fmt.Errorf("set up %s: %w", path, err)
		}
		t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
		if err := unix.IoctlSetTermios(int(port.Fd()), unix.TCSETS, t); err != nil {
			return nil, fmt.Errorf("set up %s: %w", path, err)
		}
		return port, nil
	}
	return nil, fmt.Errorf("find %s on the kernel's command line: not there", vmtest.PortOption)
}

// makeReady sets up the loopback, the host's name and the disk.
func makeReady() error {
	if err := unix.Sethostname([]byte("vmtest")); err != nil {
		return fmt.Errorf("set the host's name: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("set up the loopback: %w", err)
	}
	disk, err := findDisk(vmtest.ScratchDisk)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(vmtest.ScratchDir, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(disk, vmtest.ScratchDir, "ext4", 0, ""); err != nil {
		return fmt.Errorf("mount %s: %w", disk, err)
	}
	return os.Chmod(vmtest.ScratchDir, 0o1777)
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// findDisk returns the device with a serial number. Devices are numbered in
// the order in which they answer, which differs from boot to boot.
func findDisk(serial string) (string, error) {
	for range 500 {
		found, err := filepath.Glob("/sys/block/*/device/serial")
		if err != nil {
			return "", err
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err == nil && strings.TrimSpace(string(text)) == serial {
				return "/dev/" + filepath.Base(filepath.Dir(filepath.Dir(path))), nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return "", errors.New("find disk " + serial + ": none answers within 5 s")
}
