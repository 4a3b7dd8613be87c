package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/tailtrace/tailtrace/collector"
	"github.com/tailtrace/tailtrace/collector/eventfile"
	"github.com/tailtrace/tailtrace/correlate"
	"github.com/tailtrace/tailtrace/correlate/rows"
)

// hintFor gives advice on errors that come from deeper down; "" for none.
func hintFor(err error) string {
	if hint := recordHint(err); hint != "" {
		return hint
	}
	return readHint(err)
}

const typesHint = "'pahole --btf_encode_detached FILE VMLINUX' makes them from the vmlinux with debug symbols of exactly this kernel, " +
	"and BTFhub has those of many distributions' kernels; see docs/KERNELS.md"

func recordHint(err error) string {
	var privilege *collector.PrivilegeError
	var kernel *collector.KernelError
	var noTypes *collector.NoTypesError
	var types *collector.TypesError
	var process *collector.NoProcessError
	var thread *collector.ThreadError
	switch {
	case errors.As(err, &privilege):
		return "run it with sudo, or give it these capabilities"
	case errors.As(err, &kernel):
		return "distributions' kernels from 5.8 on have what is needed, unless they are locked down; see docs/KERNELS.md"
	case errors.As(err, &noTypes):
		return "--btf FILE gives it this kernel's types. " + typesHint
	case errors.As(err, &types) && !errors.Is(err, os.ErrNotExist):
		return typesHint
	case errors.As(err, &process):
		return "has it ended? find the service with pgrep NAME"
	case errors.As(err, &thread):
		return fmt.Sprintf("a process is traced with all its threads: -pid %d", thread.Pid)
	case errors.Is(err, collector.ErrExists):
		return "--force replaces it"
	case errors.Is(err, syscall.ENOSPC):
		return "what was written before is kept and can be read; make room, or write to another disk"
	}
	return ""
}

func readHint(err error) string {
	var noMatch *correlate.NoMatchError
	var line *rows.LineError
	var version *eventfile.VersionError
	switch {
	case errors.As(err, &noMatch) && noMatch.OtherTime > 0:
		return "are these rows of another run, or from a machine with another clock?"
	case errors.As(err, &noMatch):
		return "are these rows of another run? their ids must be those that the service publishes"
	case errors.As(err, &line):
		return line.Hint
	case errors.As(err, &version):
		return "read it with the tailtrace that wrote it, or a newer one"
	case errors.Is(err, eventfile.ErrNotEvents):
		return "an events file is what 'tailtrace -pid PID -out FILE' writes"
	case errors.Is(err, correlate.ErrNoRequests):
		return "did the service publish its windows while tailtrace recorded? see 'Telling tailtrace about requests' in README.md"
	case errors.Is(err, os.ErrNotExist):
		return "is the path right?"
	}
	return ""
}
