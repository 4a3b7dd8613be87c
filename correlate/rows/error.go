package rows

import "fmt"

// LineError is a file that cannot be read as rows.
type LineError struct {
	File   string
	Line   int // 1-based; 0: the file as a whole
	Reason string
	Hint   string // what to do about it, or ""
}

func (e *LineError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read rows %s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("read rows %s: line %d: %s", e.File, e.Line, e.Reason)
}

const formatHint = `a row is one JSON object a line: {"id": 1, "send_ns": 1000, "recv_ns": 2000}, or a .npz file with one array per field`
