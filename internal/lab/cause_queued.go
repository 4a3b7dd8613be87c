package lab

// queuedCause sends another request that keeps the thread busy: just ahead, or
// where a request can be under way without its thread, by turns just after.
// The other one is flagged warm-up: being slow itself, it would otherwise
// count as a request without a cause.
var queuedCause = cause{
	name: "queued",
	client: func(c *client) (clientSide, error) {
		turn := 0
		after := len(c.users) > 1
		other := func(at int, ns int64) error {
			return c.send(c.spare(), request{cause: noCause, amount: ns, shard: uint64(at)})
		}
		return clientSide{
			before: func(at int, ns int64) (did, error) {
				if turn++; after && turn%2 == 0 {
					return did{}, nil
				}
				return did{1, "request ahead"}, other(at, ns)
			},
			late: func(at int, ns int64) (did, error) {
				if !after || turn%2 != 0 {
					return did{}, nil
				}
				return did{1, "request in between"}, other(at, ns)
			},
		}, nil
	},
}
