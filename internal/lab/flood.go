package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// packetSteering says which CPUs handle what a device has received.
const packetSteering = "/sys/class/net/lo/queues/rx-0/rps_cpus"

// flood sends packets through a loopback device of its own, which the kernel
// is told to handle on the service's CPU, for as long as it is ordered to keep
// that CPU busy.
func flood(cfg setup) error {
	if err := newNetwork(); err != nil {
		return err
	}
	f, err := newPacket()
	if err != nil {
		return err
	}
	if err := cfg.shield(rankPeer); err != nil {
		return err
	}
	cost, err := f.cost()
	if err != nil {
		return err
	}
	if err := os.WriteFile(packetSteering, []byte(cpuMask(cfg.ServiceCPU)), 0); err != nil {
		return fmt.Errorf("steer packets to CPU %d: %w", cfg.ServiceCPU, err)
	}
	if cfg.Try {
		return nil
	}
	quiet()
	b := make([]byte, orderBytes)
	for {
		if err := rawRead(floodOrders, b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for n := int64(binary.LittleEndian.Uint64(b[8:])) / cost; n >= 0; n-- {
			if err := f.send(); err != nil {
				return err
			}
		}
		runtime.Gosched() // see quiet
	}
}

// newNetwork gives the calling thread a network of its own, so that no traffic
// but the flood's is steered.
func newNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make a network: keep its mounts private: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil { // shows the network of who mounts it
		return fmt.Errorf("make a network: mount its devices: %w", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("make a network: %w", err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("make a network: start its loopback: %w", err)
	}
	return nil
}

// cpuMask writes a CPU as sysfs wants a set of them: groups of 8 hex digits,
// the highest CPUs first.
func cpuMask(cpu int) string {
	groups := []string{fmt.Sprintf("%x", uint32(1)<<(cpu%32))}
	for range cpu / 32 {
		groups = append(groups, "00000000")
	}
	return strings.Join(groups, ",")
}

// packet is a broadcast to many sockets, each of which looks at it for long
// and drops it.
type packet struct {
	fd int
}

const (
	floodSockets = 128
	floodPort    = 5000
	// filterLen is the length of each socket's filter, the most that there is.
	filterLen = 4096
)

func newPacket() (*packet, error) {
	group := unix.SockaddrInet4{Port: floodPort, Addr: [4]byte{127, 255, 255, 255}}
	filter := slices.Repeat([]unix.SockFilter{{Code: unix.BPF_ALU | unix.BPF_ADD | unix.BPF_K, K: 1}}, filterLen)
	filter[filterLen-1] = unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // drop
	for range floodSockets {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		}
		if err == nil {
			err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
				&unix.SockFprog{Len: filterLen, Filter: &filter[0]})
		}
		if err == nil {
			err = unix.Bind(fd, &group)
		}
		if err != nil {
			return nil, fmt.Errorf("receive the flood: %w", err)
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
	}
	if err == nil {
		err = unix.Connect(fd, &group)
	}
	if err != nil {
		return nil, fmt.Errorf("send the flood: %w", err)
	}
	return &packet{fd: fd}, nil
}

func (f *packet) send() error {
	b := [1]byte{}
	return rawWrite(f.fd, b[:])
}

// cost is how long the kernel works on a packet, ns, undisturbed. It must not be steered yet:
// then the sender's own CPU does it before send returns.
func (f *packet) cost() (int64, error) {
	var took []int64
	for range 31 {
		begin := now()
		if err := f.send(); err != nil {
			return 0, fmt.Errorf("measure the flood: %w", err)
		}
		took = append(took, now()-begin)
	}
	return slices.Min(took), nil
}
