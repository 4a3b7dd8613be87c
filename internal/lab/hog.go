package lab

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
)

// An order tells the hog to keep its CPU busy for a while, after a delay that
// it sleeps through.
type order struct {
	delay, spin int64 // ns
}

const orderBytes = 16

func (o order) send(fd int) error {
	var b [orderBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(o.delay))
	binary.LittleEndian.PutUint64(b[8:], uint64(o.spin))
	return rawWrite(fd, b[:])
}

// hog takes the CPU that it shares with the service whenever it is told to.
func hog(setup) error {
	if err := setRealtime(0, rankHog); err != nil {
		return err
	}
	quiet()
	b := make([]byte, orderBytes)
	for {
		if err := rawRead(hogOrders, b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if delay := int64(binary.LittleEndian.Uint64(b)); delay > 0 {
			rawSleep(delay)
		}
		spin(int64(binary.LittleEndian.Uint64(b[8:])))
		runtime.Gosched() // see quiet
	}
}

// spin runs for ns nanoseconds of wall time.
func spin(ns int64) {
	for end := now() + ns; now() < end; {
	}
}
