package lab

// clientCause lets the answer lie while the client does something else.
var clientCause = cause{
	name:    "client",
	natural: true,
	client: func(*client) (clientSide, error) {
		return clientSide{late: func(_ int, ns int64) (did, error) {
			rawSleep(ns)
			return did{1, "late read"}, nil
		}}, nil
	},
}
