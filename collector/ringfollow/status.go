package ringfollow

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// vmPages is the size of a process's address space. It changes when a ring is
// mapped, and costs next to nothing to read, unlike the list of mappings.
func vmPages(pid int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(b), " ")
	return strconv.ParseUint(pages, 10, 64)
}

// innerPid is the pid or tid that a task has in its own pid namespace; nested
// is whether that is another one than the reader's.
func innerPid(statusPath string) (pid int, nested bool, err error) {
	b, err := os.ReadFile(statusPath)
	if err != nil {
		return 0, false, err
	}
	ids := statusIDs(string(b), "NSpid:")
	if len(ids) == 0 { // a kernel without pid namespaces
		ids = statusIDs(string(b), "Pid:")
	}
	if len(ids) == 0 {
		return 0, false, fmt.Errorf("parse %s: no pid", statusPath)
	}
	return ids[len(ids)-1], len(ids) > 1, nil
}

func statusIDs(status, key string) (ids []int) {
	for line := range strings.Lines(status) {
		rest, ok := strings.CutPrefix(line, key)
		if !ok {
			continue
		}
		for _, f := range strings.Fields(rest) {
			id, err := strconv.Atoi(f)
			if err != nil {
				return nil
			}
			ids = append(ids, id)
		}
	}
	return ids
}
