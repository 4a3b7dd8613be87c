package lab

import "golang.org/x/sys/unix"

// hasPMU reports whether this machine counts instructions.
func hasPMU() bool {
	attr := unix.PerfEventAttr{
		Type:   unix.PERF_TYPE_HARDWARE,
		Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Size:   unix.PERF_ATTR_SIZE_VER0,
		Bits:   unix.PerfBitExcludeKernel,
	}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}
