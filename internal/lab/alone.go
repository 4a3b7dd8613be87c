package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// aloneName is an abstract socket, which the kernel gives back when its owner
// ends, however that is.
const aloneName = "@tailtrace-lab"

// alone waits until no other run is under way on this machine: the hog of one
// would have the CPU of the other. leave lets the next one go ahead.
func alone(ctx context.Context) (leave func(), err error) {
	for {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: aloneName})
		if err == nil {
			return func() { l.Close() }, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, fmt.Errorf("wait for other runs of the lab to end: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
