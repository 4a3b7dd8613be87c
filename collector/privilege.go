package collector

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// PrivilegeError says which rights the recorder lacks.
type PrivilegeError struct {
	Missing []string // "CAP_BPF", ...
}

func (e *PrivilegeError) Error() string {
	return "trace the kernel: missing " + strings.Join(e.Missing, ", ")
}

// Capabilities, by bit (include/uapi/linux/capability.h).
const (
	capSysPtrace = 19
	capSysAdmin  = 21
	capSysNice   = 23
	capPerfmon   = 38
	capBPF       = 39
)

// checkPrivileges fails with a *PrivilegeError unless this process may load
// and attach the programs and read other processes.
func checkPrivileges() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read own capabilities: %w", err)
	}
	effective, err := parseCapEff(string(status))
	if err != nil {
		return err
	}
	if missing := missingCaps(effective); len(missing) > 0 {
		return &PrivilegeError{Missing: missing}
	}
	return nil
}

// missingCaps returns the capabilities that are needed and not in the set.
// CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, which came with Linux 5.8.
func missingCaps(effective uint64) []string {
	has := func(bit int) bool { return effective&(1<<bit) != 0 }
	var missing []string
	if !has(capBPF) && !has(capSysAdmin) {
		missing = append(missing, "CAP_BPF")
	}
	if !has(capPerfmon) && !has(capSysAdmin) {
		missing = append(missing, "CAP_PERFMON")
	}
	if !has(capSysPtrace) {
		missing = append(missing, "CAP_SYS_PTRACE")
	}
	return missing
}

// parseCapEff returns the effective set in a /proc/PID/status.
func parseCapEff(status string) (uint64, error) {
	for line := range strings.Lines(status) {
		if hex, ok := strings.CutPrefix(line, "CapEff:"); ok {
			return strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
		}
	}
	return 0, errors.New("read own capabilities: no CapEff in /proc/self/status")
}
