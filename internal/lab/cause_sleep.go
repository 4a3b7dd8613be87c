package lab

// sleepCause sleeps in the middle of a request.
var sleepCause = cause{
	name:    "sleep",
	blocked: true,
	service: func(*service) (serviceSide, error) {
		return serviceSide{inject: func(_ *thread, ns int64) (did, error) {
			rawSleep(ns)
			return did{1, "clock_nanosleep"}, nil
		}}, nil
	},
}
