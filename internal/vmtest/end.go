package vmtest

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// endFilter passes on everything but the mark of the end and what follows it.
type endFilter struct {
	w    io.Writer
	tail []byte // the mark, or what may become it
}

func (e *endFilter) Write(b []byte) (int, error) {
	e.tail = append(e.tail, b...)
	pass := len(e.tail)
	if i := bytes.Index(e.tail, []byte(EndMark)); i >= 0 {
		pass = i
	} else if i := bytes.LastIndexByte(e.tail, EndMark[0]); i >= 0 && len(e.tail)-i < len(EndMark) {
		pass = i
	}
	if _, err := e.w.Write(e.tail[:pass]); err != nil {
		return 0, err
	}
	e.tail = append(e.tail[:0], e.tail[pass:]...)
	return len(b), nil
}

func (e *endFilter) code() (int, error) {
	text, ok := strings.CutPrefix(string(e.tail), EndMark)
	number, ended := strings.CutSuffix(text, "\n")
	code, err := strconv.Atoi(number)
	if !ok || !ended || err != nil {
		return 0, errors.New("it ended without a result")
	}
	return code, nil
}
