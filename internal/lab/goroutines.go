package lab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// serveGoroutines serves from this goroutine, which is locked to its thread,
// until the client closes the connection. Unlike the others it leaves all
// else to Go's runtime: its waits are the runtime's.
func (s *service) serveGoroutines() error {
	f := os.NewFile(serviceListener, "listener")
	l, err := net.FileListener(f)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	conn, err := l.Accept()
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	t := s.newThread()
	in, out := make([]byte, requestBytes), make([]byte, replyBytes)
	for {
		if _, err := io.ReadFull(conn, in); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		j := s.begin(t, in)
		err := s.finish(t, &j, 0, func() error {
			j.answer.encode(out)
			_, err := conn.Write(out)
			return err
		})
		if err != nil {
			return err
		}
	}
}
