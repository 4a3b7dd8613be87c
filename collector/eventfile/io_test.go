package eventfile

import "errors"

var errBroken = errors.New("broken device")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func isBroken(err error) bool { return errors.Is(err, errBroken) }

// smallDisk takes room bytes and fails from then on.
type smallDisk struct {
	data  []byte
	room  int
	calls int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	d.calls++
	n := min(len(b), d.room-len(d.data))
	d.data = append(d.data, b[:n]...)
	if n < len(b) {
		return n, errBroken
	}
	return n, nil
}
