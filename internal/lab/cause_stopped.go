package lab

// stoppedCause has the peer stop the service (SIGSTOP) while it works.
var stoppedCause = cause{
	name:    "stopped",
	blocked: true,
	service: func(*service) (serviceSide, error) {
		return serviceSide{inject: func(t *thread, ns int64) (did, error) {
			begin := now() // the stop can come before ask returns
			if err := t.ask(stopMe, ns); err != nil {
				return did{}, err
			}
			_, err := t.workUntilAway(begin, ns/2)
			return did{1, "SIGSTOP"}, err
		}}, nil
	},
}
