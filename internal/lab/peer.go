package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A favour is what the service asks of the peer.
type favour struct {
	what     favourKind
	pid, tid int // of the thread that asks
	ns       int64
}

type favourKind uint64

const (
	answerLate favourKind = 1 // send answerBytes, ns from now
	stopMe     favourKind = 2 // stop the service now, and let it go on ns later
)

const (
	favourBytes = 32
	answerBytes = 8
)

// ask asks the peer a favour for t.
func (t *thread) ask(what favourKind, ns int64) error {
	var b [favourBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(what))
	binary.LittleEndian.PutUint64(b[8:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(b[16:], uint64(t.tid))
	binary.LittleEndian.PutUint64(b[24:], uint64(ns))
	return rawWrite(servicePeer, b[:])
}

// peer does the service's favours, one at a time, until the service ends.
func peer(cfg setup) error {
	if err := cfg.shield(rankPeer); err != nil {
		return err
	}
	quiet()
	b := make([]byte, favourBytes)
	for {
		if err := rawRead(peerSocket, b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		f := favour{
			what: favourKind(binary.LittleEndian.Uint64(b)),
			pid:  int(binary.LittleEndian.Uint64(b[8:])),
			tid:  int(binary.LittleEndian.Uint64(b[16:])),
			ns:   int64(binary.LittleEndian.Uint64(b[24:])),
		}
		if err := f.do(); err != nil {
			return err
		}
		runtime.Gosched() // see quiet
	}
}

func (f favour) do() error {
	switch f.what {
	case answerLate:
		rawSleep(f.ns)
		return rawWrite(peerSocket, make([]byte, answerBytes))
	case stopMe:
		// All threads stop when one has the signal. It goes to the one that
		// has the CPU, which another would have to wait for.
		if err := unix.Tgkill(f.pid, f.tid, unix.SIGSTOP); err != nil {
			return fmt.Errorf("stop the service: %w", err)
		}
		rawSleep(f.ns)
		if err := unix.Kill(f.pid, unix.SIGCONT); err != nil {
			return fmt.Errorf("continue the service: %w", err)
		}
		return nil
	default:
		return fmt.Errorf("unknown favour %d", f.what)
	}
}
