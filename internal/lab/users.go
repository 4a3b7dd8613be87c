package lab

import (
	"fmt"
	"runtime"
)

// user sends one request at a time, and the next some time after its answer.
type user struct {
	due  int64 // when it sends
	busy bool  // it waits for the answer of row at
	at   int
	have *injection // of that request; nil = none
	did  []did      // by the client's hooks
	// beside is the cause of another request that was under way meanwhile.
	beside string
}

// play has the users send the planned requests before row end, and waits for
// all answers.
func (c *client) play(end int) error {
	for {
		u := c.free()
		for u != nil && u.due <= now() && c.next < end && c.mayInject() {
			if err := c.ask(u); err != nil {
				return fmt.Errorf("send request %d: %w", u.at+firstID, err)
			}
			u = c.free()
		}
		until := int64(-1)
		if u != nil && c.next < end && c.mayInject() {
			until = u.due
		}
		if !c.waiting() {
			if until < 0 {
				return nil
			}
			runtime.Gosched() // see quiet
			rawSleep(until - now())
			continue
		}
		if err := c.answer(until); err != nil {
			return fmt.Errorf("wait for answers: %w", err)
		}
	}
}

// free returns the user that sends next, or nil.
func (c *client) free() *user {
	var first *user
	for i := range c.users {
		if u := &c.users[i]; !u.busy && (first == nil || u.due < first.due) {
			first = u
		}
	}
	return first
}

func (c *client) waiting() bool {
	for i := range c.users {
		if c.users[i].busy {
			return true
		}
	}
	return false
}

// mayInject holds a request with an injection back while another one is under
// way, so that each is slow for its own cause.
func (c *client) mayInject() bool {
	if c.injection() == nil {
		return true
	}
	for i := range c.users {
		if c.users[i].busy && c.users[i].have != nil {
			return false
		}
	}
	return true
}

// injection returns what the next planned request gets, or nil.
func (c *client) injection() *injection {
	if len(c.injections) > 0 && c.next == c.measured()+c.injections[0].index {
		return &c.injections[0]
	}
	return nil
}

// measured is the row of the first request that counts.
func (c *client) measured() int { return warmUps + c.setup.Plan.Warmup }

// ask sends the next planned request for u.
func (c *client) ask(u *user) error {
	*u = user{busy: true, at: c.next, have: c.injection(), did: u.did[:0]}
	c.rows[u.at].warmup = u.at < c.measured()
	c.next++
	req := request{cause: noCause, shard: uint64(u.at)}
	c.meet(u)
	if u.have == nil {
		return c.send(u.at, req)
	}
	c.injections = c.injections[1:]
	index := u.have.cause.index()
	side := c.sides[index]
	if !u.have.cause.clientOnly() {
		req.cause, req.amount = index, u.have.amount
	}
	before, err := call(side.before, u.at, u.have.amount)
	if err != nil {
		return err
	}
	if err := c.send(u.at, req); err != nil {
		return err
	}
	late, err := call(side.late, u.at, u.have.amount)
	u.did = append(u.did, before, late)
	return err
}

// meet notes which injection u's request and the others are under way with.
func (c *client) meet(u *user) {
	for i := range c.users {
		v := &c.users[i]
		switch {
		case v == u || !v.busy:
		case u.have != nil:
			v.beside = u.have.cause.name
		case v.have != nil:
			u.beside = v.have.cause.name
		}
	}
}

// answer reads the next answer, if it comes before a time (-1: whenever).
func (c *client) answer(until int64) error {
	if until >= 0 {
		ready, err := rawPoll(c.fd, max(until-now(), 0))
		if err != nil || !ready {
			return err
		}
	}
	at, ans, err := c.receive()
	if err != nil {
		return err
	}
	for i := range c.users {
		if u := &c.users[i]; u.busy && u.at == at {
			c.done(u, ans)
		}
	}
	return nil
}

func (c *client) done(u *user, ans reply) {
	u.busy = false
	u.due = now() + int64(c.setup.Plan.Gap)
	if u.have != nil {
		u.due = now() + settle + u.have.cause.rest
	}
	if u.at >= c.measured() {
		c.remember(u, ans)
	}
}

// remember writes down what became of u's request. An injection that came to
// nothing leaves it without a cause.
func (c *client) remember(u *user, ans reply) {
	r := &c.rows[u.at]
	t := Truth{
		ID: ans.id, Beside: u.beside, LatencyNS: r.recv - r.send, AfterNS: r.recv - ans.sent, AheadNS: ans.ahead,
		CPUNS: ans.cpu, WaitedNS: ans.waited,
		MinorFaults: ans.minor, MajorFaults: ans.major,
		Voluntary: ans.voluntary, Involuntary: ans.involuntary,
	}
	if u.have != nil {
		t.Beside = u.have.cause.name
	}
	for _, d := range append(u.did, ans.did) { // one of the hooks did it
		if d.count == 0 {
			continue
		}
		t.Cause, t.Beside = u.have.cause.name, ""
		t.Detail = fmt.Sprintf("%d %s", d.count, d.what)
		t.InjectedNS = u.have.amount
		if ans.took > 0 {
			t.InjectedNS = ans.took
		}
	}
	c.truth = append(c.truth, t)
}
