package collector

import (
	"errors"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
)

// KernelError says what a kernel lacks without which nothing can be recorded.
type KernelError struct {
	Lacks string
	Err   error // how that showed; may be nil
}

func (e *KernelError) Error() string {
	text := "trace the kernel: " + e.Lacks
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *KernelError) Unwrap() error { return e.Err }

// checkKernel fails with a *KernelError where a kernel is older than all that
// tailtrace knows, whatever a vendor has added to it.
func checkKernel() error {
	if err := features.HaveMapType(ebpf.RingBuf); errors.Is(err, ebpf.ErrNotSupported) {
		return &KernelError{Lacks: "it has no BPF ring buffer; Linux 5.8 or later is needed"}
	}
	return nil
}

// explainRefusal names a lockdown as the reason why a hook was refused.
func explainRefusal(err error) error {
	if lockdownMode() == lockedDown {
		return &KernelError{Lacks: "it is locked down (confidentiality) and lets no program read memory", Err: err}
	}
	return err
}

// lockedDown is the mode of /sys/kernel/security/lockdown that forbids programs
// to read the kernel's memory.
const lockedDown = "confidentiality"

// lockdownMode returns the mode, "none" where the kernel knows none, or "" where it
// cannot be read.
func lockdownMode() string {
	text, err := os.ReadFile("/sys/kernel/security/lockdown")
	if errors.Is(err, os.ErrNotExist) {
		return "none"
	}
	if err != nil {
		return ""
	}
	mode := string(text)
	if _, rest, ok := strings.Cut(mode, "["); ok {
		mode, _, _ = strings.Cut(rest, "]")
	}
	return strings.TrimSpace(mode)
}

// lockdownFact says whether the kernel is locked down.
func lockdownFact() Fact {
	switch mode := lockdownMode(); mode {
	case "":
		return Fact{Name: "lockdown", Value: "not readable"}
	case lockedDown:
		return Fact{"lockdown", mode, "kernel programs may not read memory: most hooks are refused"}
	default:
		return Fact{Name: "lockdown", Value: mode}
	}
}
