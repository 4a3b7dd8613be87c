package vmtest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// complaint is what a kernel prints when it finds a fault in itself.
var complaint = regexp.MustCompile(`Oops|BUG:|Kernel panic|WARNING: .*CPU|Unable to handle kernel|blocked for more than`)

func complaints(console string) error {
	text, err := os.ReadFile(console)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if complaint.MatchString(line) {
			return fmt.Errorf("its kernel complains: %s", strings.TrimSpace(line))
		}
	}
	return nil
}

func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
