package lab

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// client plays the users and keeps everything in memory that it set aside
// before the first request, until the last is answered.
type client struct {
	setup      setup
	injections []injection // those to come
	fd         int
	users      []user
	rows       []row // the request with id i is rows[i-firstID]
	next       int   // index of the next planned row
	truth      []Truth
	sides      []clientSide // of causes
	in, out    []byte
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
	if err := c.play(warmUps); err != nil {
		return err
	}
	if err := handshake(); err != nil {
		return err
	}
	if err := c.play(warmUps + cfg.Plan.Warmup + cfg.Plan.Requests); err != nil {
		return err
	}
	unix.Close(c.fd) // the service ends with the connection
	return c.save()
}

func newClient(cfg setup) (*client, error) {
	plan := cfg.Plan
	sh, err := plan.Shape.find()
	if err != nil {
		return nil, err
	}
	injections := plan.schedule()
	total := warmUps + plan.Warmup + plan.Requests
	c := &client{
		setup:      cfg,
		injections: injections,
		users:      make([]user, sh.users),
		rows:       make([]row, total, total+len(injections)), // see spare
		truth:      make([]Truth, 0, plan.Requests),
		sides:      make([]clientSide, len(causes)),
		in:         make([]byte, replyBytes),
		out:        make([]byte, requestBytes),
	}
	for i, cs := range causes {
		if cs.client == nil || !plan.has(cs) {
			continue
		}
		if c.sides[i], err = cs.client(c); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", cs.name, err)
		}
	}
	return c, nil
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

// send sends the request of row at.
func (c *client) send(at int, req request) error {
	req.id = firstID + uint64(at)
	req.encode(c.out)
	c.rows[at].send = now()
	return rawWrite(c.fd, c.out)
}

// receive reads the next answer into its row, at.
func (c *client) receive() (at int, ans reply, err error) {
	if err := rawRead(c.fd, c.in); err != nil {
		return 0, ans, err
	}
	received := now()
	ans = decodeReply(c.in)
	at = int(ans.id - firstID)
	if at < 0 || at >= len(c.rows) {
		return 0, ans, fmt.Errorf("answer to request %d, which was not sent", ans.id)
	}
	c.rows[at].recv = received
	return at, ans, nil
}

// spare returns a row beyond the planned ones, flagged warm-up.
func (c *client) spare() int {
	at := len(c.rows)
	c.rows = append(c.rows, row{warmup: true})
	return at
}
