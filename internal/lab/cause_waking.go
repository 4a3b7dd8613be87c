package lab

// wakingCause has the hog on the CPU while the service is woken. By turns that
// is the wakeup by the request itself, which is sent to a CPU already taken,
// and one by a timer in the middle of it.
var wakingCause = cause{
	name:     "waking",
	runnable: true,
	natural:  true,
	missing:  needRealtime,
	client: func(c *client) (clientSide, error) {
		turn := 0
		return clientSide{before: func(_ int, ns int64) (did, error) {
			turn++
			if c.setup.wakesInside(turn) {
				return did{}, nil
			}
			if err := (order{spin: ns}).send(clientHog); err != nil {
				return did{}, err
			}
			spin(wakingLead) // until it runs
			return did{1, "hog ahead of the request"}, nil
		}}, nil
	},
	service: func(s *service) (serviceSide, error) {
		turn := 0
		return serviceSide{inject: func(_ *thread, ns int64) (did, error) {
			turn++
			if !s.setup.wakesInside(turn) {
				return did{}, nil
			}
			if err := (order{delay: wakingLead, spin: ns}).send(serviceHog); err != nil {
				return did{}, err
			}
			rawSleep(2 * wakingLead)
			return did{1, "hog ahead of a timer"}, nil
		}}, nil
	},
}

// wakingLead is how long, in ns, the hog has the CPU before the wakeup that
// has to wait for it.
const wakingLead = 100_000

// wakesInside tells the two ways apart. Client and service count the same
// turns. Where both share a CPU, the client cannot send while the hog runs;
// and a thread with several requests is not surely asleep when it is sent one.
func (s setup) wakesInside(turn int) bool {
	return turn%2 == 0 || s.Others[0] == s.ServiceCPU || s.Plan.Shape == Asyncio
}
