package lab

import (
	"fmt"
	"net/netip"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// client sends one request at a time and keeps everything in memory that it
// set aside before the first, until the last is answered.
type client struct {
	setup      setup
	injections []injection // those to come
	fd         int
	rows       []row // the request with id i is rows[i-firstID]
	truth      []Truth
	sides      []clientSide // of causes
	in, out    []byte
	last       reply
}

type row struct {
	send, recv int64
	warmup     bool
}

const (
	firstID = 1
	// settle is what a request with an injection is followed by, ns.
	settle = 2_000_000
	// warmUps are sent before recording begins and are not in the rows.
	warmUps = 200
)

func load(cfg setup) error {
	c, err := newClient(cfg)
	if err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	if err := cfg.shield(rankLoad); err != nil {
		return err
	}
	quiet()
	if err := c.run(); err != nil {
		return err
	}
	unix.Close(c.fd) // the service ends with the connection
	return c.save()
}

func newClient(cfg setup) (*client, error) {
	plan := cfg.Plan
	injections := plan.schedule()
	total := warmUps + plan.Warmup + plan.Requests
	c := &client{
		setup:      cfg,
		injections: injections,
		rows:       make([]row, total, total+len(injections)), // see spare
		truth:      make([]Truth, 0, len(injections)),
		sides:      make([]clientSide, len(causes)),
		in:         make([]byte, replyBytes),
		out:        make([]byte, requestBytes),
	}
	for i, cs := range causes {
		if cs.client == nil || !plan.has(cs) {
			continue
		}
		var err error
		if c.sides[i], err = cs.client(c); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", cs.name, err)
		}
	}
	return c, nil
}

// run sends every request, the ones for the warm-up before recording begins.
func (c *client) run() error {
	first := warmUps + c.setup.Plan.Warmup // the first that is measured
	for at := range first + c.setup.Plan.Requests {
		var err error
		switch {
		case len(c.injections) > 0 && at == first+c.injections[0].index:
			err = c.injected(at, c.injections[0])
			c.injections = c.injections[1:]
		default:
			err = c.plain(at, at < first)
		}
		if err != nil {
			return fmt.Errorf("send request %d: %w", at+firstID, err)
		}
		if at == warmUps-1 {
			if err := handshake(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *client) connect() error {
	addr, err := netip.ParseAddrPort(c.setup.Address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if c.fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := sendAtOnce(c.fd); err != nil {
		return err
	}
	sa := &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
	if err := unix.Connect(c.fd, sa); err != nil {
		return fmt.Errorf("connect to the service: %w", err)
	}
	return nil
}

// handshake tells the parent that the service is warm and waits for its sign.
func handshake() error {
	if err := rawWrite(int(os.Stdout.Fd()), []byte("w")); err != nil {
		return fmt.Errorf("report the warm-up: %w", err)
	}
	if err := rawRead(int(os.Stdin.Fd()), make([]byte, len("go\n"))); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	return nil
}

// plain sends a request in which nothing is injected.
func (c *client) plain(at int, warmup bool) error {
	c.rows[at].warmup = warmup
	if err := c.send(at, request{cause: noCause}); err != nil {
		return err
	}
	if err := c.receive(at); err != nil {
		return err
	}
	c.pause(int64(c.setup.Plan.Gap))
	return nil
}

func (c *client) injected(at int, in injection) error {
	index := in.cause.index()
	side := c.sides[index]
	req := request{cause: index, amount: in.amount}
	if in.cause.service == nil {
		req = request{cause: noCause}
	}
	before, err := call(side.before, in.amount)
	if err != nil {
		return err
	}
	if err := c.send(at, req); err != nil {
		return err
	}
	late, err := call(side.late, in.amount)
	if err != nil {
		return err
	}
	if err := c.receive(at); err != nil {
		return err
	}
	c.remember(in, before, late, c.last.did)
	c.pause(settle)
	return nil
}

// remember writes down the injection that the last answer is about; one of
// the hooks did it.
func (c *client) remember(in injection, hooks ...did) {
	t := Truth{
		ID: c.last.id, Cause: in.cause.name, InjectedNS: in.amount,
		MinorFaults: c.last.minor, MajorFaults: c.last.major,
		Voluntary: c.last.voluntary, Involuntary: c.last.involuntary,
	}
	if c.last.took > 0 {
		t.InjectedNS = c.last.took
	}
	for _, d := range hooks {
		if d.count > 0 {
			t.Detail = fmt.Sprintf("%d %s", d.count, d.what)
		}
	}
	c.truth = append(c.truth, t)
}

func (c *client) send(at int, req request) error {
	req.id = firstID + uint64(at)
	req.encode(c.out)
	c.rows[at].send = now()
	return rawWrite(c.fd, c.out)
}

// receive reads answers until that of request at; others before it go to
// their own rows.
func (c *client) receive(at int) error {
	for {
		if err := rawRead(c.fd, c.in); err != nil {
			return err
		}
		received := now()
		c.last = decodeReply(c.in)
		other := int(c.last.id - firstID)
		if other < 0 || other >= len(c.rows) {
			return fmt.Errorf("answer to request %d, which was not sent", c.last.id)
		}
		c.rows[other].recv = received
		if other == at {
			return nil
		}
	}
}

func (c *client) pause(ns int64) {
	runtime.Gosched() // see quiet
	rawSleep(ns)
}
