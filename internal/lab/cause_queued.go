package lab

// queuedCause sends another request just ahead, for which the service's one
// thread is busy when this one arrives. That request is flagged warm-up:
// being slow itself, it would otherwise count as a request without a cause.
var queuedCause = cause{
	name: "queued",
	client: func(c *client) (clientSide, error) {
		return clientSide{
			before: func(ns int64) (did, error) {
				return did{1, "request ahead"}, c.send(c.spare(), request{cause: noCause, amount: ns})
			},
		}, nil
	},
}

// spare returns a row beyond the planned ones, flagged warm-up.
func (c *client) spare() int {
	at := len(c.rows)
	c.rows = append(c.rows, row{warmup: true})
	return at
}
